#include "spank_plugin/jabasd/decision_inputs.h"

#include "allocator/error.h"

namespace jabas {

std::string DecisionInputs::problem() const {
  if (!nodes.value) return nodes.problem;
  if (!lead.value) return lead.problem;
  return price_problem;
}

DecisionInputs fetch_inputs(SlurmClient& slurm, PriceSource& prices, long lead_job_id,
                            const std::vector<std::string>& types) {
  DecisionInputs inputs;
  inputs.nodes = slurm.nodes();
  inputs.lead = slurm.lead(lead_job_id);
  try {
    inputs.prices = prices.read(types);
  } catch (const Error& error) {
    inputs.price_problem = error.what();
  }
  return inputs;
}

}  // namespace jabas
