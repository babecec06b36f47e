// Computes the digest of a configuration's content. Two sets that result in the same service have the same digest, so
// that a reload of an unchanged set does nothing. The beginning of the digest is the revision, by which people and
// machines compare what replicas serve. A revision is so short that an attacker can make two sets with the same one, so
// the program itself compares whole digests.
//
// These are pure functions. The digest of an object covers everything except its `status` and the metadata that the API
// server writes: generation, resourceVersion, managedFields and others. So sets with equal revisions may still differ
// in the observedGeneration of their statuses. The digest of a file covers its values, without comments, order,
// quoting, positions and file names. But if two documents define the same object, their order is covered, because the
// first is served. A List is replaced by its items. Empty documents are left out. EndpointSlices are left out too,
// because they change all the time without a change of configuration.
#pragma once

#include <string>
#include <vector>

#include "config/ground/document.h"
#include "config/ground/problem.h"
#include "config/model/covers.h"
#include "config/read/object_identity.h"
#include "config/yaml/source_text.h"
#include "proxy/base/secret.h"
#include "proxy/pki/digest.h"

namespace sluice::config {

/// One object of a configuration: its identity and the digest of its content.
struct RevisionEntry {
  std::string name;  // not printable
  pki::Sha256Digest digest;
  Covers covers;
};

/// Returns the entry of an object. If the object may contain a secret, the entry is an HMAC with `key`, so that nobody
/// can test guesses of a secret against a published revision. Such an object is a Secret, or an object of an unknown
/// kind, which may be a misspelt Secret. Sets without such objects have the same digest with every key. `root` must be
/// neither empty nor a List.
RevisionEntry revisionEntry(const Value& root, const ObjectIdentity& identity, const base::Secret& key);

/// Returns 64 hex digits. The order of entries matters only among several entries for the same object.
std::string digestOf(std::vector<const RevisionEntry*> entries);

/// Returns the digest of a set that is refused as a whole. It is an HMAC with the key over the texts and the reasons
/// why they could not be read.
std::string digestOfUnreadable(const KeptTexts& texts, const Problems& problems, const base::Secret& key);

/// Returns the first 12 digits of the digest.
std::string revisionOf(const std::string& digest);

}  // namespace sluice::config
