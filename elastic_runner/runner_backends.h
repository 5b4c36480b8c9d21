// What jabas_runner is given from outside: the engine (LibTorch) and the collectives (Gloo, later
// NCCL). Tests give fakes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "elastic_runner/communicator.h"
#include "elastic_runner/iidp_engine.h"

namespace jabas {

struct RunnerBackends {
  std::function<std::unique_ptr<IidpEngine>(const EngineOptions&)> make_engine;
  std::function<std::unique_ptr<Communicator>(RendezvousStore&, int rank, int world_size,
                                              const std::string& bind_address)>
      make_communicator;
  // Whether the training can be built; its number of training samples.
  std::function<std::int64_t(const EngineOptions&)> check_training;
};

}  // namespace jabas
