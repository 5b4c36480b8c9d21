#include "allocator/reference_times.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "allocator/error.h"
#include "allocator/throughput_model.h"

namespace jabas {
namespace {

// Python's round(): the exact binary value to the nearest decimal, halves to even, and that decimal
// to the nearest binary value.
double rounded(double value, int digits) {
  char text[512];
  const auto [end, error] =
      std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, digits);
  JABAS_ASSERT(error == std::errc(), "512 characters hold any double");
  double result = 0;
  std::from_chars(text, end, result);
  return result;
}

double both_s(const ComputePoint& point) { return point.forward_s + point.backward_s; }

}  // namespace

ReferenceTimes reference_times(const TypeProfile& type, std::int64_t local_batch, int max_streams,
                               double exposed_update) {
  std::vector<ComputePoint> points;
  for (const ComputePoint& point : type.points)
    if (point.local_batch == local_batch) points.push_back(point);
  const ComputePoint &first = points.front(), &last = points.back();
  const auto samples = double(local_batch);

  // Below 0.005 samples/s the reference would divide by 0.
  const double rounded_samples_per_s = rounded(samples / both_s(first), 2);
  const double initial_samples_per_s =
      rounded_samples_per_s > 0 ? rounded_samples_per_s : samples / both_s(first);
  std::vector<std::pair<double, double>> normalized;  // ln V, n(V)
  for (const ComputePoint& point : points)
    normalized.emplace_back(
        std::log(point.streams),
        rounded(samples * point.streams / both_s(point) / initial_samples_per_s, 3));
  const bool fitted = last.streams >= 3;
  const Line line = fit_line(normalized);
  const double forward_share = last.forward_s / both_s(last);
  const double copy_s = last.streams > 1 ? last.copy_s / (last.streams - 1) : 0;

  ReferenceTimes result;
  for (int streams = 1; streams <= max_streams; ++streams) {
    const auto measured =
        std::find_if(points.begin(), points.end(),
                     [&](const ComputePoint& point) { return point.streams == streams; });
    if (!fitted && measured == points.end()) break;
    const double throughput = fitted ? line.slope * std::log(streams) + line.offset
                                     : normalized[std::size_t(measured - points.begin())].second;
    if (throughput <= 0) break;  // a falling fit says nothing beyond its root
    const double pass_s = rounded(samples * streams / (throughput * initial_samples_per_s), 4);
    const double data_s = measured != points.end() ? measured->data_s : streams * first.data_s;
    result.passes.push_back({data_s, pass_s * forward_share, pass_s * (1 - forward_share)});
    result.once_s.push_back(last.bn_sync_s * streams +
                            (last.update_s + copy_s * (streams - 1)) * exposed_update);
  }
  return result;
}

}  // namespace jabas
