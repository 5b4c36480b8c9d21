#include "elastic_runner/run_directory.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <thread>

#include "allocator/error.h"

namespace jabas {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string text_of(const sockaddr* address) {
  char host[NI_MAXHOST] = "";
  const socklen_t size =
      address->sa_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  if (::getnameinfo(address, size, host, sizeof host, nullptr, 0, NI_NUMERICHOST) != 0) return "";
  return host;
}

std::string address_of_interface(const std::string& name) {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return "";
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, &::freeifaddrs);
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr != nullptr && entry->ifa_addr->sa_family == AF_INET &&
        name == entry->ifa_name) {
      return text_of(entry->ifa_addr);
    }
  }
  return "";
}

// UDP connect sends nothing; it makes the kernel choose the source address.
std::string address_toward(const std::string& host, const std::string& port) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_DGRAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  if (::getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0) return "";
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  const int fd = ::socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_storage local{};
  socklen_t size = sizeof local;
  const bool known = fd >= 0 && ::connect(fd, found->ai_addr, found->ai_addrlen) == 0 &&
                     ::getsockname(fd, reinterpret_cast<sockaddr*>(&local), &size) == 0;
  if (fd >= 0) ::close(fd);
  return known ? text_of(reinterpret_cast<sockaddr*>(&local)) : "";
}

}  // namespace

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string read_endpoint(const std::string& run_dir) { return first_line(run_dir + "/endpoint"); }

std::string wait_for_endpoint(const std::string& run_dir, std::chrono::seconds deadline) {
  const auto end = std::chrono::steady_clock::now() + deadline;
  while (true) {
    const std::string endpoint = read_endpoint(run_dir);
    if (!endpoint.empty()) return endpoint;
    if (std::chrono::steady_clock::now() >= end) {
      throw InputError(
          run_dir + "/endpoint: not there after " + std::to_string(deadline.count()) +
          " s: the job's daemon does not run (see jabasd.log there); nothing was started");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

std::string read_key(const std::string& run_dir, const std::string& name) {
  const std::string path = run_dir + "/keys/" + name;
  if (::access(path.c_str(), R_OK) != 0) throw IoError("cannot read the run's key", path, errno);
  const std::string key = first_line(path);
  if (key.size() != 40) {
    throw InputError(path + ": not a key of 40 Z85 characters but of " +
                     std::to_string(key.size()));
  }
  return key;
}

std::string data_address(const std::string& endpoint) {
  const std::string chosen = environment("JABAS_INTERFACE");
  if (!chosen.empty()) {
    in_addr probe4{};
    in6_addr probe6{};
    if (::inet_pton(AF_INET, chosen.c_str(), &probe4) == 1 ||
        ::inet_pton(AF_INET6, chosen.c_str(), &probe6) == 1) {
      return chosen;
    }
    const std::string address = address_of_interface(chosen);
    if (address.empty()) {
      throw InputError("JABAS_INTERFACE=" + chosen +
                       ": accepted are an IP address or an interface with an IPv4 address");
    }
    return address;
  }
  const auto host_begin = endpoint.find("://");
  const auto port_begin = endpoint.rfind(':');
  if (host_begin == std::string::npos || port_begin <= host_begin + 3) {
    throw InputError("endpoint '" + endpoint + "': accepted is tcp://HOST:PORT");
  }
  const std::string address =
      address_toward(endpoint.substr(host_begin + 3, port_begin - host_begin - 3),
                     endpoint.substr(port_begin + 1));
  if (address.empty()) {
    throw InputError("endpoint '" + endpoint +
                     "': no address of this host leads there; set JABAS_INTERFACE");
  }
  return address;
}

std::string host_name() {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  return name;
}

std::string boot_id() { return first_line("/proc/sys/kernel/random/boot_id"); }

}  // namespace jabas
