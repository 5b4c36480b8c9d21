// Reads what the Slurm commands print. Pure: text in, rows out.
// Errors: InputError naming the line, when a line is not of the asked form. Unknown states and
// reasons are kept as text.
#pragma once

#include <string>
#include <vector>

#include "spank_plugin/jabasd/slurm_client.h"

namespace jabas {

// The -O argument of squeue whose lines parse_squeue reads, with TZ=UTC and
// SLURM_TIME_FORMAT=standard.
extern const char kSqueueFormat[];
std::vector<JobRow> parse_squeue(const std::string& text);

// The -O argument of sinfo -N whose lines parse_sinfo reads. A node in several partitions is
// printed several times and returned once.
extern const char kSinfoFormat[];
std::vector<NodeRow> parse_sinfo(const std::string& text);

// `scontrol -d -o show job ID`.
LeadInfo parse_lead(const std::string& text);

// "gpu:v100:2(S:0-1),gpu:p100:1" -> counts; entries that are not GPUs, "(null)" and "N/A" give
// none. An untyped GPU has the type "gpu".
GpuCounts parse_gres(const std::string& text);

// "2026-12-01T09:06:15" in UTC -> UNIX seconds; "N/A", "Unknown", "None", "" -> 0.
double parse_time(const std::string& text);

// Host and address of the first controller in `scontrol show config` ("ctl(10.0.0.1)" ->
// "10.0.0.1"); "" when absent.
std::string controller_address(const std::string& config_text);

}  // namespace jabas
