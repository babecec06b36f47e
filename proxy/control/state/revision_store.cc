#include "proxy/control/state/revision_store.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <set>
#include <utility>

#include "config/load/revision.h"
#include "config/load/secret_documents.h"
#include "proxy/control/configuration/revision_key.h"
#include "proxy/control/state/state_file.h"

namespace sluice::control {
namespace {

constexpr std::string_view kLastGood = "last-good";
constexpr std::string_view kHistory = "revision-";

/// The fields of a stored configuration: the digest, the number of written texts, and then file and text of each text,
/// the written ones first.
class ConfigurationFields {
 public:
  ConfigurationFields(const std::string& digest, std::size_t written) : count_(std::to_string(written)) {
    fields_ = {digest, count_};
  }
  void add(std::string_view file, std::string_view text) { fields_.insert(fields_.end(), {file, text}); }
  const std::vector<std::string_view>& fields() const { return fields_; }

 private:
  const std::string count_;
  std::vector<std::string_view> fields_;
};

config::Problem problemOf(const base::Error& error) {
  config::Problem problem;
  problem.severity = config::Severity::kWarning;
  problem.message = error.detail;
  return problem;
}

std::optional<StoredConfiguration> configurationOf(const std::vector<base::Secret>& fields) {
  if (fields.size() < 2 || fields.size() % 2 != 0) return std::nullopt;
  StoredConfiguration stored;
  stored.digest = fields[0].reveal();
  const std::string_view count = fields[1].reveal();
  std::size_t written = 0;
  for (const char digit : count) {
    if (digit < '0' || digit > '9' || written > fields.size()) return std::nullopt;
    written = 10 * written + static_cast<std::size_t>(digit - '0');
  }
  if (2 + 2 * written > fields.size()) return std::nullopt;
  for (std::size_t i = 2; i < fields.size(); i += 2) {
    std::vector<config::SourceText>& to = i < 2 + 2 * written ? stored.written : stored.kept;
    to.push_back({std::string(fields[i].reveal()), std::string(fields[i + 1].reveal())});
  }
  return stored;
}

/// Reads a file, if it is there, by `parse`, which returns false if the fields are not those of such a file. Adds its
/// faults to `problems`.
template <typename Parse>
void readIfThere(const std::string& path, config::Problems& problems, Parse&& parse) {
  if (::access(path.c_str(), F_OK) != 0) return;
  const auto fields = readStateFile(path);
  if (!fields.ok()) {
    problems.push_back(problemOf(fields.error()));
  } else if (!parse(fields.value())) {
    problems.push_back(problemOf(base::Error::config(path + ": is damaged")));
  }
}

std::optional<StoredConfiguration> readStored(const std::string& path, config::Problems& problems) {
  std::optional<StoredConfiguration> stored;
  readIfThere(path, problems, [&](const std::vector<base::Secret>& fields) {
    stored = configurationOf(fields);
    return stored.has_value();
  });
  return stored;
}

}  // namespace

base::Result<RevisionStore> RevisionStore::open(const std::string& folder) {
  if (base::Status made = makeStateFolder(folder); !made.ok()) return made.error();
  const std::string lockPath = folder + "/lock";
  const int lock = ::open(lockPath.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock < 0) return base::Error::config(lockPath + ": cannot be opened: " + std::strerror(errno));
  RevisionStore store(folder, lock);
  if (::flock(lock, LOCK_EX | LOCK_NB) != 0) return base::Error::config(folder + ": another process uses this folder");
  if (base::Status opened = store.openKey(); !opened.ok()) return opened.error();
  return store;
}

RevisionStore::RevisionStore(RevisionStore&& other) noexcept
    : folder_(std::move(other.folder_)), lock_(std::exchange(other.lock_, -1)), key_(std::move(other.key_)) {}

RevisionStore::~RevisionStore() {
  if (lock_ >= 0) ::close(lock_);
}

base::Status RevisionStore::openKey() {
  const std::string keyPath = path("key");
  if (auto known = readStateFile(keyPath); known.ok() && known->size() == 1) {
    key_ = std::move(known->front());
    return base::Done{};
  }
  key_ = newRevisionKey();
  return writeStateFile(keyPath, {key_.reveal()});
}

std::string RevisionStore::pathOf(std::string_view digest) const {
  return path(std::string(kHistory) + std::string(digest));
}

base::Status RevisionStore::keep(const CompiledConfiguration& served) {
  const config::ObjectSet& set = served.set;
  ConfigurationFields whole(served.digest, set.texts.size());
  for (const auto& text : set.texts) whole.add(text->file, text->text.reveal());
  for (const config::KeptVersion& kept : served.kept) whole.add(kept.text->file, kept.text->text.reveal());
  if (base::Status kept = writeStateFile(path(kLastGood), whole.fields()); !kept.ok()) return kept;
  if (history_ == served.digest && ::access(pathOf(served.digest).c_str(), F_OK) == 0) return base::Done{};
  // Texts without secrets are stored as they are.
  ConfigurationFields open(served.digest, set.texts.size());
  std::vector<std::string> parted;
  parted.reserve(set.texts.size());
  for (std::size_t i = 0; i < set.texts.size(); ++i) {
    const std::string_view text = set.texts[i]->text.reveal();
    parted.push_back(config::partSecrets(text, *set.readings[i]).open);
    open.add(set.texts[i]->file, parted.back());
  }
  base::Status stored = writeStateFile(pathOf(served.digest), open.fields());
  if (stored.ok()) history_ = served.digest;
  return stored;
}

base::Status RevisionStore::keep(const RevisionLedger& ledger) {
  const std::vector<std::string> saved = ledger.save();
  base::Status kept = writeStateFile(path("ledger"), {saved.begin(), saved.end()});
  if (!kept.ok()) return kept;
  std::set<std::string> wanted;
  for (const LedgerRevision& each : ledger.revisions()) {
    if (!each.tainted()) wanted.insert(std::string(kHistory) + each.digest);
  }
  DIR* folder = ::opendir(folder_.c_str());
  if (folder == nullptr) return base::Done{};
  while (const dirent* entry = ::readdir(folder)) {
    const std::string name = entry->d_name;
    if (name.starts_with(kHistory) && !wanted.contains(name)) ::unlink(path(name).c_str());
  }
  ::closedir(folder);
  return base::Done{};
}

void RevisionStore::read(RevisionLedger& ledger, config::Problems& problems) const {
  readIfThere(path("ledger"), problems, [&](const std::vector<base::Secret>& fields) {
    std::vector<std::string_view> texts;
    for (const base::Secret& field : fields) texts.push_back(field.reveal());
    return ledger.load(texts);
  });
}

std::optional<StoredConfiguration> RevisionStore::lastGood(config::Problems& problems) const {
  return readStored(path(kLastGood), problems);
}

std::optional<StoredConfiguration> RevisionStore::ofHistory(std::string_view digest, config::Problems& problems) const {
  return readStored(pathOf(digest), problems);
}

}  // namespace sluice::control
