// What a step decides (design: continue, suspend or reply), or that it could not.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "proxy/base/box.h"
#include "proxy/base/error.h"

namespace sluice::processing {

/// An answer to the client in the place of what would have come.
struct Reply {
  base::Error error;                                        // its status, type and sentence
  std::vector<std::pair<std::string, std::string>> fields;  // names in lower case
};

class Verdict {
 public:
  enum class Kind : std::uint8_t { kContinue, kReply, kFail };

  static Verdict goOn() { return Verdict(Kind::kContinue); }
  static Verdict reply(Reply reply) {
    Verdict verdict(Kind::kReply);
    verdict.reply_ = std::move(reply);
    return verdict;
  }
  /// The step could not do its work: what follows is up to failOpen. `reason`: one short sentence for the log; never
  /// holds a secret, nor unescaped input.
  static Verdict fail(std::string reason) {
    Verdict verdict(Kind::kFail);
    verdict.reason_ = std::move(reason);
    return verdict;
  }

  Kind kind() const { return kind_; }
  const Reply& reply() const { return *reply_; }
  const std::string& reason() const { return reason_; }

 private:
  explicit Verdict(Kind kind) : kind_(kind) {}

  Kind kind_;
  base::Box<Reply> reply_;
  std::string reason_;
};

}  // namespace sluice::processing
