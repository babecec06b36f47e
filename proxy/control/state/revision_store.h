// The folder of --state-dir: the files with which a process can continue where an earlier one ended, without its
// source.
//
//   key        the key of digests, so that digests can be compared from one process to the next
//   ledger     the revisions of ledger.h
//   last-good  the configuration that was served last, with its Secrets
//   revision-* the configurations of the ledger that were served, without Secrets
//   lock       held by the process that uses the folder
//
// Only the owner may enter it. Belongs to the loading thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/ground/problem.h"
#include "config/yaml/source_text.h"
#include "proxy/base/result.h"
#include "proxy/base/secret.h"
#include "proxy/control/configuration/compiled_configuration.h"
#include "proxy/control/state/ledger.h"

namespace sluice::control {

/// A configuration as texts.
struct StoredConfiguration {
  std::string digest;
  std::vector<config::SourceText> written;
  /// The texts from which earlier versions of refused objects were read (config/load/kept_version.h).
  std::vector<config::SourceText> kept;
};

class RevisionStore {
 public:
  /// Opens the folder, and makes it if it is not there. Errors name the path: it cannot be used, or another process
  /// uses it.
  static base::Result<RevisionStore> open(const std::string& folder);
  RevisionStore(RevisionStore&& other) noexcept;
  RevisionStore& operator=(RevisionStore&&) = delete;
  RevisionStore(const RevisionStore&) = delete;
  RevisionStore& operator=(const RevisionStore&) = delete;
  ~RevisionStore();

  const base::Secret& key() const { return key_; }

  /// Stores a configuration that is served as the last good one, and in the history. The history does not get the same
  /// objects again because Pods have moved.
  base::Status keep(const CompiledConfiguration& served);
  /// Stores the ledger, and forgets configurations of the history that it does not have.
  base::Status keep(const RevisionLedger& ledger);

  /// Fills the ledger. If the file is damaged, reports that and leaves the ledger empty.
  void read(RevisionLedger& ledger, config::Problems& problems) const;
  /// Return the last good configuration, and one of the history. If the file is damaged, they report that and return
  /// nothing.
  std::optional<StoredConfiguration> lastGood(config::Problems& problems) const;
  std::optional<StoredConfiguration> ofHistory(std::string_view digest, config::Problems& problems) const;

 private:
  RevisionStore(std::string folder, int lock) : folder_(std::move(folder)), lock_(lock) {}
  base::Status openKey();
  std::string path(std::string_view name) const { return folder_ + "/" + std::string(name); }
  std::string pathOf(std::string_view digest) const;

  std::string folder_;
  int lock_;
  std::string history_;  // the digest of the configuration that was stored last in the history
  base::Secret key_;
};

}  // namespace sluice::control
