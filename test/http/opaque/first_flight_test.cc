#include "proxy/http/opaque/first_flight.h"

#include <gtest/gtest.h>

#include <string>

#include "test/support/client_hello.h"

namespace sluice::http {
namespace {

using test::clientHello;
using test::helloExtension;
using test::helloMessage;
using test::helloRecords;
using test::serverNameList;

/// Returns the protocol and the server's name of the bytes, or "?" if more of them decide.
std::string toldBy(std::string_view bytes, std::size_t piece = std::string_view::npos) {
  FirstFlight flight;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) flight.add(bytes.substr(0, piece));
  if (!flight.known()) return "?";
  return std::string(protocolName(flight.protocol())) + " " + std::string(flight.serverName().value_or("(unread)"));
}

TEST(FirstFlight, TellsTheServerThatTlsNames) {
  EXPECT_EQ(toldBy(clientHello("api.example.com")), "tls api.example.com");
  EXPECT_EQ(toldBy(clientHello("API.Example.COM.")), "tls api.example.com");
  EXPECT_EQ(toldBy(clientHello("a_b.xn--mnchen-3ya.test")), "tls a_b.xn--mnchen-3ya.test");
  EXPECT_EQ(toldBy(clientHello("")), "tls ");
}

TEST(FirstFlight, WaitsForTheWholeHelloHoweverItIsCut) {
  const std::string hello = clientHello("a.test");
  for (std::size_t size = 1; size < hello.size(); ++size) {
    EXPECT_EQ(toldBy(std::string_view(hello).substr(0, size)), "?") << size;
  }
  EXPECT_EQ(toldBy(hello, 1), "tls a.test");
  const std::string message = helloMessage(helloExtension(0, serverNameList("a.test")));
  EXPECT_EQ(toldBy(helloRecords(message, 7)), "tls a.test");
  EXPECT_EQ(toldBy(helloRecords(message, 7), 1), "tls a.test");
  const std::string lengthy = helloMessage(helloExtension(0, serverNameList(std::string(60, 'a'))));
  EXPECT_EQ(toldBy(helloRecords(lengthy, 1)), "tls (unread)") << "so many records are no client's";
}

TEST(FirstFlight, TakesNoNameThatIsNotCertain) {
  const std::string ofA = helloExtension(0, serverNameList("a.test"));
  const std::string cases[] = {
      ofA + ofA,
      helloExtension(0, serverNameList("a.test", 1)),
      helloExtension(0, ""),
      helloExtension(0, serverNameList("a.test") + "x"),
      helloExtension(0, serverNameList("a..test")),
      helloExtension(0, serverNameList(".test")),
      helloExtension(0, serverNameList("a test")),
      helloExtension(0, serverNameList(std::string("a\0.test", 7))),
      helloExtension(0, serverNameList("[::1]")),
      helloExtension(0, serverNameList(std::string(256, 'a'))),
      ofA + "x",
  };
  for (const std::string& extensions : cases) {
    EXPECT_EQ(toldBy(helloRecords(helloMessage(extensions))), "tls (unread)") << extensions;
  }
}

TEST(FirstFlight, OfOtherHandshakesIsNotRead) {
  EXPECT_EQ(toldBy(helloRecords(test::tlsNumber(2, 1) + test::tlsVector("server", 3))), "tls (unread)");
  EXPECT_EQ(toldBy(std::string("\x16\x02\x00\x00\x05", 5)), "tls (unread)");
  EXPECT_EQ(toldBy(std::string("\x16\x03\x01\x00\x00", 5)), "tls (unread)") << "an empty record";
  EXPECT_EQ(toldBy(helloRecords(test::tlsNumber(1, 1) + test::tlsNumber(FirstFlight::kMostHello + 1, 3))),
            "tls (unread)");
}

TEST(FirstFlight, EndsAtItsBound) {
  const std::string large = helloRecords(helloMessage(helloExtension(99, std::string(FirstFlight::kMostHello, 'x'))));
  EXPECT_EQ(toldBy(large), "tls (unread)");
  FirstFlight flight;
  flight.add(std::string_view(large).substr(0, FirstFlight::kMostHello - 1));
  EXPECT_FALSE(flight.known()) << "its length is announced in the first bytes only if they are whole";
}

TEST(FirstFlight, TellsRequestsOfHttpFromOtherBytes) {
  EXPECT_EQ(toldBy("GET / HTTP/1.1\r\n"), "http ");
  EXPECT_EQ(toldBy("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), "http ");
  EXPECT_EQ(toldBy("G"), "?");
  EXPECT_EQ(toldBy("GETTING"), "tcp ");
  EXPECT_EQ(toldBy("SSH-2.0-x\r\n"), "tcp ");
  EXPECT_EQ(toldBy(std::string(1, '\0')), "tcp ");
}

TEST(FirstFlight, IsTakenAsItIsWhenNoMoreComes) {
  FirstFlight none;
  none.finish();
  EXPECT_TRUE(none.known());
  EXPECT_FALSE(none.begun());
  EXPECT_EQ(none.protocol(), StreamProtocol::kTcp);
  FirstFlight half;
  half.add(clientHello("a.test").substr(0, 30));
  EXPECT_FALSE(half.known());
  half.finish();
  EXPECT_EQ(half.protocol(), StreamProtocol::kTls);
  EXPECT_EQ(half.serverName(), std::nullopt);
}

}  // namespace
}  // namespace sluice::http
