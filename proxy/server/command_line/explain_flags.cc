#include "proxy/server/command_line/explain_flags.h"

#include "proxy/server/command_line/argument_checks.h"

namespace sluice::server {

void takeRequestInQuestion(CLI::App& explain, control::RequestInQuestion& request) {
  explain.add_option("--url", request.url, "the URL, with scheme and host; connect://HOST:PORT for a tunnel")
      ->required()
      ->type_name("URL");
  explain.add_option("--method", request.method, "the method (default GET)")->type_name("METHOD");
  explain.add_option("-H,--header", request.headers, "a header field; may be repeated")
      ->type_name("'NAME: VALUE'")
      ->expected(1)
      ->take_all();
  explain.add_option("--from,--client-address", request.clientAddress, "the IP address of the client")
      ->type_name("ADDRESS");
  explain.add_option("--as", request.caller.account, "the caller: a service account that the client proves to be")
      ->type_name("NAMESPACE/ACCOUNT")
      ->check(checkAccount);
  explain.add_option("--principal", request.caller.principal, "the caller's name in its proof, such as a SPIFFE ID")
      ->type_name("NAME");
  explain
      .add_option("--assurance", request.caller.assurance,
                  "how well the caller is proven; None: it has no identity (default Certificate)")
      ->type_name("None|Address|Token|Certificate")
      ->check(checkAssurance);
  explain
      .add_option("--sni", request.serverName, "the server that TLS names in a tunnel (default: the host of the URL)")
      ->type_name("NAME");
  explain.add_option("--gateway", request.gateway, "the Gateway that gets the request, if listeners of several fit")
      ->type_name("NAMESPACE/NAME");
}

}  // namespace sluice::server
