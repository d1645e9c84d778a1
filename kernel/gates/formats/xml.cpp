// SPDX-License-Identifier: Apache-2.0
#include "gates/formats/xml.hpp"

#include <Poco/Exception.h>
#include <Poco/SAX/Attributes.h>
#include <Poco/SAX/DefaultHandler.h>
#include <Poco/SAX/SAXParser.h>

#include "base/text.hpp"

namespace agentforge::kernel {
namespace {

Error not_xml(const std::string& why) {
    return {"AF-GATE-041", "The report is not readable XML: " + why + ".", "",
            "Run the tests again; a runner that was killed leaves half a report.", ErrorKind::invalid};
}

/// Builds the tree. Stops the parse if it gets too deep or too large.
class TreeBuilder final : public Poco::XML::DefaultHandler {
public:
    XmlElement root;

    void startElement(const Poco::XML::XMLString&, const Poco::XML::XMLString& local, const Poco::XML::XMLString& qualified,
                      const Poco::XML::Attributes& attributes) override {
        constexpr std::size_t max_depth = 100;
        constexpr std::size_t max_elements = 1'000'000;
        if (open_.size() >= max_depth || ++elements_ > max_elements) {
            throw Poco::RuntimeException("it is nested too deeply or has too many elements");
        }
        XmlElement element;
        element.name = qualified.empty() ? local : qualified;
        for (int index = 0; index < attributes.getLength(); ++index) {
            const auto& name = attributes.getQName(index);
            element.attributes[name.empty() ? attributes.getLocalName(index) : name] = attributes.getValue(index);
        }
        open_.push_back(std::move(element));
    }
    void endElement(const Poco::XML::XMLString&, const Poco::XML::XMLString&, const Poco::XML::XMLString&) override {
        auto element = std::move(open_.back());
        open_.pop_back();
        if (open_.empty()) {
            root = std::move(element);
        } else {
            open_.back().children.push_back(std::move(element));
        }
    }
    void characters(const Poco::XML::XMLChar text[], int start, int length) override {
        if (!open_.empty()) { open_.back().text.append(text + start, static_cast<std::size_t>(length)); }
    }

private:
    std::vector<XmlElement> open_;
    std::size_t elements_ = 0;
};

}  // namespace

std::string XmlElement::attribute(std::string_view key) const {
    const auto found = attributes.find(key);
    return found == attributes.end() ? std::string{} : found->second;
}

const XmlElement* XmlElement::child(std::string_view key) const {
    for (const auto& each : children) {
        if (each.name == key) { return &each; }
    }
    return nullptr;
}

Result<XmlElement> parse_xml(std::string_view text) {
    auto plain = sanitize_utf8(text);
    for (auto& each : plain) {
        const auto code = static_cast<unsigned char>(each);
        if (code < 0x20 && each != '\n' && each != '\r' && each != '\t') { each = '?'; }
    }
    if (plain.find("<!DOCTYPE") != std::string::npos) { return not_xml("it has a document type"); }
    TreeBuilder builder;
    try {
        Poco::XML::SAXParser parser;
        parser.setFeature(Poco::XML::XMLReader::FEATURE_EXTERNAL_GENERAL_ENTITIES, false);
        parser.setFeature(Poco::XML::XMLReader::FEATURE_EXTERNAL_PARAMETER_ENTITIES, false);
        parser.setContentHandler(&builder);
        parser.parseMemoryNP(plain.data(), plain.size());
    } catch (const Poco::Exception& problem) {
        return not_xml(first_line(problem.displayText()));
    } catch (const std::exception& problem) { return not_xml(problem.what()); }
    return std::move(builder.root);
}

}  // namespace agentforge::kernel
