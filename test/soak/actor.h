// Somebody who does the same thing again and again until the soak is over, and judges each time what came of it. An
// actor has a thread of its own.
//
// What is an error, an actor says by wrong(): strict ones accept exactly one answer; those who misbehave, or talk to
// who does, accept the answers that names.md gives them, and an end in time.
#pragma once

#include <chrono>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "test/soak/course.h"
#include "test/soak/ledger.h"
#include "test/soak/stage.h"

namespace sluice::soak {

/// What an actor works with.
struct Scene {
  Stage& stage;
  Course& course;
  Ledger& ledger;
  std::mt19937& random;

  /// Any number of [least, most].
  int any(int least, int most) const { return std::uniform_int_distribution(least, most)(random); }
  bool oneIn(int count) const { return any(1, count) == 1; }
};

struct Actor {
  std::string name;
  /// Between two rounds.
  std::chrono::milliseconds pause;
  std::function<void(Scene&)> round;
};

/// Who get exactly what they asked for, whatever goes on around them: over sockets, and by the programs of others.
std::vector<Actor> strictClients();
std::vector<Actor> peerClients();
/// Who hold tunnels open, over both versions, and through every reload.
std::vector<Actor> webSocketClients();
/// Who break off, dawdle or talk nonsense.
std::vector<Actor> roughClients();
/// Who ask for what an origin breaks.
std::vector<Actor> clientsOfRoughOrigins();
/// Who change the world: configurations, names; and who watch it by the admin port.
std::vector<Actor> operators();
std::vector<Actor> namekeepers();
std::vector<Actor> auditors();

}  // namespace sluice::soak
