#include "config/read/object_readers.h"
#include "proxy/base/text.h"

namespace sluice::config {
namespace {

constexpr std::size_t kMaxNameBytes = 128;
constexpr Choice<SessionType> kSessionTypes[] = {{"Cookie", SessionType::kCookie}, {"Header", SessionType::kHeader}};
constexpr Choice<bool> kLifetimes[] = {{"Permanent", true}, {"Session", false}};

}  // namespace

void readSessionPersistence(FieldReader& reader, SessionPersistence& session) {
  session.path = reader.path();
  session.name = reader.anyText("sessionName", kMaxNameBytes);
  // The API accepts any text, but the names of cookies (RFC 6265 section 4.1.1) and of header fields are tokens.
  if (!session.name.empty() && !isHeaderName(session.name)) {
    reader.error("sessionName",
                 "must be a name that cookies and header fields can have, but is " + base::quote(session.name));
  }
  reader.read("absoluteTimeout", session.absoluteTimeout);
  reader.read("type", session.type, kSessionTypes);
  if (reader.has("cookieConfig")) {
    if (session.type != SessionType::kCookie) reader.error("cookieConfig", "can only be set with type Cookie");
    reader.map("cookieConfig").read("lifetimeType", session.permanent, kLifetimes).finish();
  }
  if (session.permanent && !reader.has("absoluteTimeout")) {
    reader.error("absoluteTimeout", "is required when cookieConfig.lifetimeType is Permanent");
  }
}

}  // namespace sluice::config
