// The digest of a configuration's content. Two sets that are served alike have the same digest, so that a reload of
// an unchanged set does nothing. Its beginning is the revision, by which people and machines see what replicas serve. A
// revision is so short that someone can make two sets for it, so the program itself compares whole digests.
//
// These are pure functions. An object counts with everything except its `status` and the parts of its metadata that the
// API server writes: generation, resourceVersion, managedFields and the like. So sets with equal revisions may still
// differ in the observedGeneration of their statuses. A file counts only with its values, without comments, order,
// quoting, position and file name, unless two documents define one object: then the first is served. Empty documents
// and EndpointSlices are left out, because the latter change all the time without any change of configuration; a List
// counts as its items.
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
  std::string name;  // bytes, not for people
  pki::Sha256Digest digest;
  Covers covers;
};

/// An object that may hold a secret (a Secret, or an object of an unknown kind, which may be a misspelt Secret) enters
/// only through an HMAC with `key`, so that nobody can test guesses of a secret against a published revision. Sets
/// without such objects have the same digest under every key. `root` is neither empty nor a List.
RevisionEntry revisionEntry(const Value& root, const ObjectIdentity& identity, const base::Secret& key);

/// Returns 64 hex digits. The order of entries matters only among several entries for one object.
std::string digestOf(std::vector<const RevisionEntry*> entries);

/// Returns the digest of a set that is refused as a whole: of its texts and of the reasons why they could not be read,
/// all through an HMAC with the key.
std::string digestOfUnreadable(const KeptTexts& texts, const Problems& problems, const base::Secret& key);

/// Returns the first 12 digits.
std::string revisionOf(const std::string& digest);

}  // namespace sluice::config
