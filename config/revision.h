// A configuration by the digest of what it says: equal for two sets that are served alike, so that a reload can be
// nothing at all, and so that people and machines can compare what replicas serve (C-12).
//
// Pure functions. What counts of an object is everything but its `status` and the parts of its metadata that the API
// server writes: generation, resourceVersion, managedFields and the like. So equal revisions may still differ in what
// their statuses tell as observedGeneration. Of files nothing counts but their values: no comment, order, quoting,
// position or name, unless two documents define one object, of which the first is served. Empty documents and
// EndpointSlices are left out, because they change all the time without anybody having configured anything; a List
// counts as its items.
#pragma once

#include <string>
#include <vector>

#include "config/document.h"
#include "config/load.h"
#include "config/problem.h"
#include "proxy/base/secret.h"

namespace sluice::config {

/// 12 hex digits. Whatever may hold a secret (Secrets, and what is no kind that we know, which may be a misspelt one)
/// enters only through an HMAC with `key`, so that nobody can try guesses of a secret against a published revision;
/// sets without such objects have the same revision under every key.
std::string revisionOf(const std::vector<Document>& documents, const base::Secret& key);

/// Of what the revision leaves out and is served all the same: the EndpointSlices. Equal for two sets with the same
/// ones.
std::string endpointsDigestOf(const std::vector<Document>& documents);

/// Of a set that is refused whole: texts, and why they could not be read, all by the key.
std::string revisionOfUnreadable(const std::vector<SourceText>& texts, const Problems& problems,
                                 const base::Secret& key);

}  // namespace sluice::config
