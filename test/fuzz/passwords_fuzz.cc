// One input is the text of an htpasswd file and a field of credentials at once: tenants write the one, clients the
// other.
#include <string>
#include <string_view>

#include "proxy/exchange/authentication/basic_credentials.h"
#include "proxy/pki/password_file.h"
#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzzers.h"
#include "test/support/passwords.h"

namespace sluice::test {
namespace {

void readFile(std::string_view text) {
  const auto file = pki::PasswordFile::parse(text);
  if (file.ok()) {
    require((*file)->size() > 0 && (*file)->size() <= pki::PasswordFile::kMostUsers, "a number of users out of bounds");
    require(text.find("$2") != std::string_view::npos, "a file without bcrypt");
    return;
  }
  require(file.error().detail == "it has no users" || file.error().detail.starts_with("line "), "another error");
}

/// The same credentials, written again, are read as the same.
void readField(std::string_view text) {
  const auto read = exchange::readBasic(text);
  if (!read) return;
  require(exchange::isOfBasic(text), "another scheme");
  require(read->user.reveal().find_first_of(std::string_view(":\0\n", 3)) == std::string_view::npos,
          "a user with a character that none has");
  const auto again = exchange::readBasic(basic(read->user.reveal(), read->password.reveal()));
  require(again && again->user.reveal() == read->user.reveal() && again->password.reveal() == read->password.reveal(),
          "other credentials");
}

}  // namespace

int fuzzPasswords(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  readFile(text);
  readField(text);
  return 0;
}

}  // namespace sluice::test
