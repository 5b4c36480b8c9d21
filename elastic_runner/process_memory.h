// Memory of this process and what is left for it, from /proc and its cgroup.
// Units: bytes.   Errors: IoError if /proc cannot be read.
#pragma once

namespace jabas {

double resident_bytes();
double peak_resident_bytes();  // the most it ever was, or since the last reset
// Where the kernel does not allow it the peak stays.
void reset_peak_resident_bytes();
// What the machine has left, or the process's cgroup if that is less.
double available_bytes();

}  // namespace jabas
