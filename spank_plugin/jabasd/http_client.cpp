#include "spank_plugin/jabasd/http_client.h"

#include <curl/curl.h>

#include <memory>

namespace jabas {
namespace {

constexpr std::size_t kLongestAnswer_bytes = 1024 * 1024;

std::size_t append(char* data, std::size_t size, std::size_t count, void* target) {
  auto* text = static_cast<std::string*>(target);
  const std::size_t bytes = size * count;
  if (text->size() + bytes > kLongestAnswer_bytes)
    return 0;  // ends the transfer with CURLE_WRITE_ERROR
  text->append(data, bytes);
  return bytes;
}

}  // namespace

HttpAnswer http_get(const std::string& url, std::chrono::milliseconds deadline) {
  static const CURLcode initialised = curl_global_init(CURL_GLOBAL_DEFAULT);
  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(
      initialised == CURLE_OK ? curl_easy_init() : nullptr, curl_easy_cleanup);
  HttpAnswer answer;
  if (!curl) {
    answer.problem = url + ": libcurl cannot be initialised";
    return answer;
  }
  CURL* handle = curl.get();
  curl_easy_setopt(handle, CURLOPT_URL, url.c_str());
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(handle, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(handle, CURLOPT_MAXREDIRS, 3L);
  curl_easy_setopt(handle, CURLOPT_FAILONERROR, 1L);
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, long(deadline.count()));
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, append);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, &answer.text);
  const CURLcode code = curl_easy_perform(handle);
  answer.ok = code == CURLE_OK;
  if (!answer.ok) {
    answer.problem = url + ": " +
                     (code == CURLE_WRITE_ERROR ? "more than 1 MiB, not a price list"
                                                : curl_easy_strerror(code));
    answer.text.clear();
  }
  return answer;
}

}  // namespace jabas
