// Interface of classes that act only while this process leads.
//
// A LeaseHolder notifies a ClassClaim that it holds the Lease, and the ClassClaim notifies its own user that it leads.
#pragma once

namespace sluice::kubernetes {

class LeadershipUser {
 public:
  /// Called inside a Turn when the leadership begins or ends.
  virtual void onLeads(bool leads) = 0;

 protected:
  ~LeadershipUser() = default;
};

}  // namespace sluice::kubernetes
