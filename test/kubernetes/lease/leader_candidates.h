// A candidate for leadership that talks to an API server whose answers a test writes by hand.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "proxy/kubernetes/lease/leader_election.h"
#include "proxy/kubernetes/lease/leadership.h"
#include "proxy/net/worker.h"
#include "test/kubernetes/client/api_rig.h"

namespace sluice::kubernetes {

/// `Candidate` is ClassClaim or LeaseHolder. It is made by the derived fixture, and ends inside a turn.
template <typename Candidate>
class LeaderCandidates : public ::testing::Test, private LeadershipUser {
 protected:
  void make(const Candidacy& candidacy) {
    candidate = std::make_unique<Candidate>(rig.client, candidacy, static_cast<LeadershipUser&>(*this));
  }
  void TearDown() override {
    const net::Worker::Turn turn(rig.worker);
    candidate.reset();
  }
  std::size_t last() const { return rig.requests() - 1; }
  http::Method lastMethod() { return rig.request(last()).message.head.method; }

  ApiRig rig;
  std::vector<bool> told;
  std::unique_ptr<Candidate> candidate;

 private:
  void onLeads(bool leads) override { told.push_back(leads); }
};

}  // namespace sluice::kubernetes
