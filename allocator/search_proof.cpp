#include "allocator/search_proof.h"

#include <cstdio>

namespace jabas {
namespace {

std::string plural(double count) {
  char text[48];
  std::snprintf(text, sizeof text, "%.0f %s", count, count == 1 ? "candidate" : "candidates");
  return text;
}

std::string value_text(const Rank& rank) {
  char text[48];
  std::snprintf(text, sizeof text, "%.6g", rank.value);
  return rank.group > 0 ? std::string(text) + " outside the limit" : text;
}

}  // namespace

std::string to_text(const SearchProof& proof) {
  if (proof.exhaustive) return "exhaustive over " + plural(proof.candidates);
  std::string text = proof.cut_short || proof.fastest ? "NOT exact, the search was cut short: "
                                                      : "exact by bounds: ";
  text += std::to_string(proof.predicted) + " of " + plural(proof.candidates) + " predicted, " +
          std::to_string(proof.boxes) + " boxes bounded; best bound left " + value_text(proof.left);
  if (proof.last)
    text += " against " + value_text(*proof.last) + " of number " + std::to_string(proof.place);
  if (proof.fastest) {
    char times[96];
    std::snprintf(times, sizeof times, "; fastest found %.6g s, none is below %.6g s",
                  proof.fastest->found_s, proof.fastest->least_s);
    text += times;
  }
  return text;
}

}  // namespace jabas
