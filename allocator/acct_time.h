// Times and durations as sacct reads and writes them: local time, seconds.
// Threads: uses the process's time zone (TZ), read only.
// Errors:  parse_time throws UsageError "Invalid time specification (pos=N): TEXT".
#pragma once

#include <string>

namespace jabas::acct {

// HH:MM[:SS][AM|PM] · MMDD[YY], MM/DD[/YY], MM.DD[.YY] or YYYY-MM-DD, each with [-HH:MM[:SS]] or
// [THH:MM[:SS]] · today, midnight, noon, elevenses, fika, teatime, tomorrow · utsSECONDS ·
// now[{+|-}N[seconds|minutes|hours|days|weeks]]. A date without time is its midnight; without year
// it is of this year. `now_s` and the result are UNIX seconds.
double parse_time(const std::string& text, double now_s);

// The last midnight.
double midnight(double now_s);

// "2026-12-01T11:22:33" in local time; "Unknown" for 0. `format` is SLURM_TIME_FORMAT: "" or
// "standard", else a strftime pattern.
std::string time_text(double unix_s, const std::string& format = "");
// "[D-]HH:MM:SS", rounded.
std::string duration_text(double seconds);
// "MM:SS.mmm" below one hour, as sacct shows CPU times; else as duration_text.
std::string short_duration_text(double seconds);

}  // namespace jabas::acct
