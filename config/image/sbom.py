#!/usr/bin/env python3
"""Prints the list of an image's packages as SPDX 2.3 in JSON, for build.sh beside it.

Packages of Debian are described by their own control files. What is compiled into the program, and so is no package of the image, is listed
as well: it comes from what the program says about itself.
"""
import argparse
import email.parser
import hashlib
import json
import os
import time
import urllib.parse

# Libraries without a shared object: name as `sluice version` has it, and the package of Debian that it is compiled from.
COMPILED_IN = {"CLI11": "libcli11-dev"}


def control_files(folder):
    """Returns the control file of each package, by name."""
    names = sorted(name for name in os.listdir(folder) if not name.endswith(".md5sums"))
    files = {}
    for name in names:
        with open(os.path.join(folder, name), encoding="utf-8") as text:
            files[name] = email.parser.Parser().parsestr(text.read())
    return files


def checksums(path):
    """Returns the SHA-256 of each package's archive, by the package's name; the file is as sha256sum prints it."""
    with open(path, encoding="utf-8") as lines:
        pairs = [line.split() for line in lines]
    return {name.split("_")[0]: digest for digest, name in pairs}


def package(name, version, **more):
    """Returns an SPDX package; what nobody has looked at is NOASSERTION."""
    entry = {"SPDXID": "SPDXRef-Package-" + name.replace("+", "plus"), "name": name, "versionInfo": version,
             "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "licenseConcluded": "NOASSERTION",
             "licenseDeclared": "NOASSERTION", "copyrightText": "NOASSERTION"}
    entry.update(more)
    return entry


def debian_package(control, digest):
    """Returns the SPDX package of a Debian package, with the URL by which scanners look it up."""
    name, version = control["Package"], control["Version"]
    quote = urllib.parse.quote
    url = f"pkg:deb/debian/{quote(name)}@{quote(version, safe='')}?arch={control['Architecture']}&distro=debian-12"
    source = control.get("Source", name)
    return package(name, version, supplier="Organization: Debian", sourceInfo=f"built from the source package {source}",
                   checksums=[{"algorithm": "SHA256", "checksumValue": digest}],
                   externalRefs=[{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": url}])


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--records", required=True, help="the folder of control files")
    arguments.add_argument("--checksums", required=True, help="SHA-256 of the packages' archives, as sha256sum prints them")
    arguments.add_argument("--version", required=True, help="what `sluice version -o json` has printed")
    arguments.add_argument("--epoch", required=True, type=int, help="the date of the list, in seconds since 1970")
    given = arguments.parse_args()
    with open(given.version, encoding="utf-8") as text:
        about = json.load(text)
    digests = checksums(given.checksums)
    sluice = package("sluice", about["version"], licenseConcluded="Apache-2.0", licenseDeclared="Apache-2.0",
                     sourceInfo=f"built from commit {about['commit']}", primaryPackagePurpose="APPLICATION")
    debian = [debian_package(control, digests[name]) for name, control in control_files(given.records).items()]
    compiled = [package(library["name"], library["version"], comment=f"headers compiled into sluice ({COMPILED_IN[library['name']]})")
                for library in about["libraries"] if library["name"] in COMPILED_IN]
    packages = [sluice] + debian + compiled
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", sluice["SPDXID"])]
    relations += [(sluice["SPDXID"], "DEPENDS_ON", entry["SPDXID"]) for entry in debian]
    relations += [(sluice["SPDXID"], "STATIC_LINK", entry["SPDXID"]) for entry in compiled]
    # The name space must differ for lists that differ.
    digest = hashlib.sha256(json.dumps([packages, given.epoch], sort_keys=True).encode()).hexdigest()
    print(json.dumps({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"sluice-{about['version']}",
        "documentNamespace": f"https://spdx.org/spdxdocs/sluice-{about['version']}-{digest[:32]}",
        "creationInfo": {"created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(given.epoch)),
                         "creators": ["Organization: Sluice", "Tool: sbom.py"]},
        "packages": packages,
        "relationships": [{"spdxElementId": left, "relationshipType": kind, "relatedSpdxElement": right}
                          for left, kind, right in relations],
    }, indent=1, sort_keys=True))


if __name__ == "__main__":
    main()
