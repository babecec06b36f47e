// Which EgressRevisions `sluice revisions rollback` makes active, and which not. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "proxy/base/result.h"
#include "proxy/content/value.h"
#include "proxy/server/kubernetes/rollback_options.h"

namespace sluice::server {

/// An EgressRevision as the columns of its CustomResourceDefinition show it.
struct ListedRevision {
  std::string name;
  std::string gateway;
  std::string revision;
  std::string state;
  std::string lastServed;  // empty if it was never served
  std::string created;     // both are texts of one form, which compare as times
  bool active = false;
};

/// Reads a Table (meta.k8s.io/v1) of EgressRevisions, which an API server makes of a list.
std::vector<ListedRevision> readRevisionTable(const content::Value& table);

struct RollbackChoice {
  std::string activate;                 // the name of an EgressRevision; empty: none
  std::vector<std::string> deactivate;  // names
};

/// Returns the changes to make. The error gives the reason if none is possible, and lists the revisions.
base::Result<RollbackChoice> chooseRevision(const std::vector<ListedRevision>& all, const RollbackOptions& options);

}  // namespace sluice::server
