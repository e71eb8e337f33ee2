"""Validates JUnit files against reports/junit.xsd, and their counts, which a schema cannot: junit_schema_test.py SCHEMA FILE..."""

import copy
import sys

from lxml import etree

schema = etree.XMLSchema(etree.parse(sys.argv[1]))
failures = []
for name in sys.argv[2:]:
    document = etree.parse(name)
    if not schema.validate(document):
        failures += [f"{name}: {error}" for error in schema.error_log]
    suite = document.find("testsuite")
    for attribute, path in (("tests", "testcase"), ("failures", "testcase/failure"), ("errors", "testcase/error"), ("skipped", "testcase/skipped")):
        if int(suite.get(attribute)) != len(suite.findall(path)):
            failures.append(f"{name}: {attribute} is {suite.get(attribute)}, but there are {len(suite.findall(path))}")


def is_refused(change):
    document = copy.deepcopy(etree.parse(sys.argv[2]))
    change(document.find("testsuite"))
    return not schema.validate(document)


# A malformed file must be refused.
for change in (
    lambda suite: suite.attrib.pop("tests"),
    lambda suite: suite.set("time", "soon"),
    lambda suite: suite.find("testcase").attrib.pop("name"),
    lambda suite: suite.find("testcase/failure").attrib.pop("type"),
    lambda suite: suite.find("testcase").append(etree.Element("passed")),
    lambda suite: suite.append(copy.deepcopy(suite.find("testcase"))),
    lambda suite: suite.remove(suite.find("properties")),
):
    if not is_refused(change):
        failures.append("a malformed file passes")
print("\n".join(failures) or "valid")
sys.exit(bool(failures))
