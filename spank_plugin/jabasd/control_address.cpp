#include "spank_plugin/jabasd/control_address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <optional>

namespace jabas {
namespace {

constexpr char kLoopback[] = "127.0.0.1";

std::string text_of(const in_addr& address) {
  std::array<char, INET_ADDRSTRLEN> buffer = {};
  return inet_ntop(AF_INET, &address, buffer.data(), buffer.size()) != nullptr ? buffer.data() : "";
}

std::string address_of_interface(const std::string& name) {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return "";
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(list, freeifaddrs);
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr || entry->ifa_addr->sa_family != AF_INET ||
        name != entry->ifa_name)
      continue;
    return text_of(reinterpret_cast<const sockaddr_in*>(entry->ifa_addr)->sin_addr);
  }
  return "";
}

std::optional<sockaddr_in> lookup(const std::string& host) {
  addrinfo hints = {};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* list = nullptr;
  if (getaddrinfo(host.c_str(), "6817", &hints, &list) != 0) return std::nullopt;
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(list, freeaddrinfo);
  return *reinterpret_cast<const sockaddr_in*>(list->ai_addr);
}

// Connecting a UDP socket sends nothing; it only makes the kernel choose a route and a source
// address.
std::string source_address_toward(const sockaddr_in& target) {
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return "";
  std::string result;
  sockaddr_in own = {};
  socklen_t size = sizeof own;
  if (connect(fd, reinterpret_cast<const sockaddr*>(&target), sizeof target) == 0 &&
      getsockname(fd, reinterpret_cast<sockaddr*>(&own), &size) == 0) {
    result = text_of(own.sin_addr);
  }
  close(fd);
  return result;
}

}  // namespace

ControlAddress control_address(const std::string& interface, const std::string& controller) {
  if (!interface.empty()) {
    in_addr numeric = {};
    if (inet_pton(AF_INET, interface.c_str(), &numeric) == 1) return {interface, ""};
    const std::string address = address_of_interface(interface);
    if (!address.empty()) return {address, ""};
    return {kLoopback, "JABAS_INTERFACE=" + interface +
                           ": no interface of that name with an IPv4 address; using 127.0.0.1, "
                           "members on other nodes "
                           "cannot connect"};
  }
  if (controller.empty()) return {kLoopback, "SlurmctldHost is not known; using 127.0.0.1"};
  if (const auto target = lookup(controller)) {
    const std::string address = source_address_toward(*target);
    if (!address.empty()) return {address, ""};
  }
  return {kLoopback,
          "no route to SlurmctldHost " + controller + "; using 127.0.0.1 (set JABAS_INTERFACE)"};
}

}  // namespace jabas
