// Reads one document independently of all others; load() puts the results together.
//
// These are pure functions. Their results never change, so that a reading can be kept for as long as its text is the
// same.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "config/ground/document.h"
#include "config/ground/problem.h"
#include "config/load/revision.h"
#include "config/model/model.h"
#include "config/read/object_identity.h"
#include "config/read/object_kinds.h"
#include "proxy/base/secret.h"

namespace sluice::config {

struct ObjectReading {
  ObjectIdentity identity;
  Position position;
  const ObjectKind* kind = nullptr;          // null: no reader takes it
  std::shared_ptr<const void> object;        // for kind->put(); null if it is not to be served
  std::shared_ptr<const Rejected> rejected;  // set if its schema refuses it
  Problems problems;
  std::optional<RevisionEntry> revision;  // none: it does not count
};

struct ReadingRules {
  Severity unknownFields;   // an error in files, a warning in Kubernetes
  const base::Secret& key;  // the key of revisions
};

/// Reads the objects of a document: none if it is empty, several if it is a List.
void readObjects(const Value& root, const ReadingRules& rules, std::vector<ObjectReading>& readings);

}  // namespace sluice::config
