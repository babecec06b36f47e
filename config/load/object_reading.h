// Reads one document independently of all others; load() assembles the results.
//
// These are pure functions. Their results never change, so a reading can be kept as long as its text stays the same.
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
  const ObjectKind* kind = nullptr;          // null if there is no reader for it
  std::shared_ptr<const void> object;        // for kind->put(); null if it must not be served
  std::shared_ptr<const Rejected> rejected;  // set if its schema refuses it
  Problems problems;
  std::optional<RevisionEntry> revision;  // nullopt if it is not part of the revision
};

struct ReadingRules {
  Severity unknownFields;   // an error in files, a warning in Kubernetes
  const base::Secret& key;  // the key of revisions
};

/// Reads the objects of a document. An empty document has none, and a List has several.
void readObjects(const Value& root, const ReadingRules& rules, std::vector<ObjectReading>& readings);

}  // namespace sluice::config
