// What a decision needs from outside, fetched in one go in the background: nodes, the lead job,
// prices.
#pragma once

#include <string>
#include <vector>

#include "spank_plugin/jabasd/price_source.h"
#include "spank_plugin/jabasd/slurm_client.h"

namespace jabas {

struct DecisionInputs {
  Answer<std::vector<NodeRow>> nodes;
  Answer<LeadInfo> lead;
  PriceReading prices;
  std::string price_problem;  // "" or why there are none
  // One line, "" when everything needed is there.
  std::string problem() const;
};

DecisionInputs fetch_inputs(SlurmClient& slurm, PriceSource& prices, long lead_job_id,
                            const std::vector<std::string>& types);

}  // namespace jabas
