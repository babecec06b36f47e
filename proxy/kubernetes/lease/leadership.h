// Interface of classes that act only while this process leads.
//
// A LeaseHolder tells a ClassClaim that it holds the Lease, and that one its own user that it leads.
#pragma once

namespace sluice::kubernetes {

class LeadershipUser {
 public:
  /// Called inside a Turn when it begins, or ends.
  virtual void onLeads(bool leads) = 0;

 protected:
  ~LeadershipUser() = default;
};

}  // namespace sluice::kubernetes
