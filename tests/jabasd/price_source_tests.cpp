#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <fstream>
#include <thread>

#include "allocator/error.h"
#include "spank_plugin/jabasd/cost_meter.h"
#include "spank_plugin/jabasd/http_client.h"
#include "spank_plugin/jabasd/price_source.h"
#include "tests/support/temp_dir.h"

using namespace jabas;
using namespace std::chrono_literals;

namespace {

// Answers one HTTP request with the text; on a free port of the loopback.
class OneAnswer {
 public:
  explicit OneAnswer(std::string answer) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    BOOST_REQUIRE(bind(fd_, reinterpret_cast<sockaddr*>(&address), size) == 0);
    BOOST_REQUIRE(listen(fd_, 1) == 0);
    BOOST_REQUIRE(getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this, text = std::move(answer)] {
      const int client = accept(fd_, nullptr, nullptr);
      char request[4096];
      if (client < 0 || recv(client, request, sizeof request, 0) <= 0) return;
      for (std::size_t sent = 0; sent < text.size();) {
        const ssize_t count = send(client, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
        if (count <= 0) break;
        sent += std::size_t(count);
      }
      close(client);
    });
  }
  ~OneAnswer() {
    shutdown(fd_, SHUT_RDWR);
    thread_.join();
    close(fd_);
  }
  OneAnswer(const OneAnswer&) = delete;
  OneAnswer& operator=(const OneAnswer&) = delete;
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/prices"; }

 private:
  int fd_, port_ = 0;
  std::thread thread_;
};

std::string ok(const std::string& body) { return "HTTP/1.0 200 OK\r\n\r\n" + body; }

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path) << text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(price_source_tests)

BOOST_AUTO_TEST_CASE(a_file_is_read_again_each_time) {
  const TempDir dir;
  PriceSource source((dir / "p.json").string(), (dir / "kept").string());
  write(dir / "p.json", R"({"v100":3})");
  BOOST_TEST(source.read({}).prices.usd_per_gpu_h.at("v100") == 3.0);
  write(dir / "p.json", R"({"v100":4})");
  BOOST_TEST(source.read({}).prices.usd_per_gpu_h.at("v100") == 4.0);
}

BOOST_AUTO_TEST_CASE(a_broken_reading_keeps_the_last_good_list_and_says_so) {
  const TempDir dir;
  PriceSource source((dir / "p.json").string(), (dir / "kept").string());
  write(dir / "p.json", R"({"v100":3})");
  source.read({});
  write(dir / "p.json", R"({"v100":"dear"})");
  const PriceReading reading = source.read({});
  BOOST_TEST(reading.prices.usd_per_gpu_h.at("v100") == 3.0);
  BOOST_TEST(reading.warning.find("the last good prices stay in use") != std::string::npos);
  // Also for a daemon that was started again.
  PriceSource later((dir / "p.json").string(), (dir / "kept").string());
  BOOST_TEST(later.read({}).prices.usd_per_gpu_h.at("v100") == 3.0);
}

BOOST_AUTO_TEST_CASE(without_any_list_it_is_an_error) {
  const TempDir dir;
  PriceSource source((dir / "none.json").string(), (dir / "kept").string());
  BOOST_CHECK_EXCEPTION(source.read({}), InputError, [&](const InputError& error) {
    return std::string(error.what()) ==
           "cannot read the prices: " + (dir / "none.json").string() +
               ": No such file or directory; no earlier prices are known";
  });
}

BOOST_AUTO_TEST_CASE(built_in_prices_need_no_file) {
  PriceSource source("", "/nowhere/kept");
  BOOST_TEST(source.read({"v100"}).prices.usd_per_gpu_h.count("v100") == 1u);
}

BOOST_AUTO_TEST_CASE(a_url_is_fetched_and_kept) {
  const TempDir dir;
  std::string url;
  {
    const OneAnswer server(ok(R"({"p100":1.5})"));
    url = server.url();
    BOOST_TEST(
        PriceSource(url, (dir / "kept").string(), 5s).read({}).prices.usd_per_gpu_h.at("p100") ==
        1.5);
  }
  const PriceReading reading = PriceSource(url, (dir / "kept").string(), 1s).read({});
  BOOST_TEST(reading.prices.usd_per_gpu_h.at("p100") == 1.5);
  BOOST_TEST(reading.warning.find(url) != std::string::npos);
}

BOOST_AUTO_TEST_CASE(http_limits_hold) {
  {
    const OneAnswer server(ok(std::string(2 * 1024 * 1024, 'x')));
    BOOST_TEST(http_get(server.url(), 5s).problem ==
               server.url() + ": more than 1 MiB, not a price list");
  }
  {
    const OneAnswer server("HTTP/1.0 404 Not Found\r\n\r\n");
    BOOST_TEST(!http_get(server.url(), 5s).ok);
  }
  BOOST_TEST(!http_get("file:///etc/passwd", 5s).ok);
}

BOOST_AUTO_TEST_CASE(cost_is_price_times_time_with_changing_prices) {
  CostMeter meter;
  meter.hold("1", "v100", 2, 0);
  BOOST_TEST(!meter.complete());
  meter.set_prices({{"v100", 3.6}}, 100);  // the first prices count from the beginning
  BOOST_TEST(meter.complete());
  BOOST_TEST(meter.total_usd(1000) == 2.0, boost::test_tools::tolerance(1e-9));
  meter.set_prices({{"v100", 7.2}}, 1000);
  BOOST_TEST(meter.total_usd(2000) == 6.0, boost::test_tools::tolerance(1e-9));
  meter.end("1", 2000);
  meter.end("1", 9000);
  BOOST_TEST(meter.total_usd(9000) == 6.0, boost::test_tools::tolerance(1e-9));
}

BOOST_AUTO_TEST_SUITE_END()
