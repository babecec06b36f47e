// An actor repeats an action until the soak is over, and checks the result each time. It has a thread of its own.
//
// An actor reports errors by wrong(). Strict actors accept exactly one answer; actors that misbehave, or that talk to a
// peer that does, accept the answers that names.md lists for the case, and an end in time.
#pragma once

#include <chrono>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "test/soak/ledger.h"
#include "test/soak/soak_course.h"
#include "test/soak/testbed.h"

namespace sluice::soak {

/// The objects that an actor works with.
struct Scene {
  Testbed& testbed;
  SoakCourse& course;
  Ledger& ledger;
  std::mt19937& random;

  /// Returns a random number in [least, most].
  int any(int least, int most) const { return std::uniform_int_distribution(least, most)(random); }
  bool oneIn(int count) const { return any(1, count) == 1; }
};

struct Actor {
  std::string name;
  /// pause between two rounds
  std::chrono::milliseconds pause;
  std::function<void(Scene&)> round;
};

/// Returns clients that must get exactly what they asked for, whatever else goes on: raw sockets and third-party
/// programs.
std::vector<Actor> strictClients();
std::vector<Actor> peerClients();
/// Returns clients that keep tunnels open, over both versions and through every reload.
std::vector<Actor> webSocketClients();
/// Returns clients that break off, stall or send nonsense.
std::vector<Actor> roughClients();
/// Returns clients that request the paths of the rough origin.
std::vector<Actor> clientsOfRoughOrigins();
/// Returns actors that change configurations and names, and that watch the gateway by its admin port.
std::vector<Actor> operators();
std::vector<Actor> namekeepers();
std::vector<Actor> auditors();

}  // namespace sluice::soak
