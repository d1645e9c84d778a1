// SPDX-License-Identifier: Apache-2.0
#include "gates/stubs/plain/rust_code.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <re2/re2.h>

#include "gates/stubs/plain/plain_text.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::pair<std::string_view, std::string_view> rust_modules[] = {
    {"std::time", "Duration Instant SystemTime"},
    {"std::collections", "HashMap HashSet BTreeMap BTreeSet VecDeque BinaryHeap LinkedList"},
    {"std::sync", "Arc Mutex RwLock Condvar"},
    {"std::rc", "Rc"},
    {"std::cell", "RefCell Cell"},
    {"std::path", "Path PathBuf"},
    {"std::str", "FromStr Chars"},
    {"std::num", "ParseIntError ParseFloatError NonZeroU32 NonZeroUsize"},
    {"std::cmp", "Ordering Reverse"},
    {"std::hash", "Hash Hasher"},
    {"std::fmt", "Display Formatter"},
    {"std::ops",
     "Index IndexMut Add Sub Mul Div Rem Neg Not AddAssign SubAssign MulAssign DivAssign RemAssign Deref DerefMut Range "
     "RangeInclusive RangeBounds BitAnd BitOr BitXor Shl Shr"},
    {"std::borrow", "Cow Borrow"},
    {"std::marker", "PhantomData"},
    {"std::future", "Future"},
    {"std::pin", "Pin"},
    {"std::io", "BufRead Read Write"},
    {"std::iter", "FusedIterator Sum Product Peekable"},
    {"std::error", "Error"},
    {"std", "fmt io"}};

}  // namespace

std::string value_of_opaque_type(const std::string& signature) {
    static const RE2 opaque(R"(->\s*(?:(Option|Result)\s*<\s*)?impl\s+(?:\w+::)*(\w+)(?:\s*\(([^)]*)\))?)");
    std::string around;
    std::string name;
    std::string parameters;
    if (!RE2::PartialMatch(signature, opaque, &around, &name, &parameters)) { return {}; }
    static const std::map<std::string, std::string> values{{"Iterator", "std::iter::empty()"},
                                                           {"DoubleEndedIterator", "std::iter::empty()"},
                                                           {"ExactSizeIterator", "std::iter::empty()"},
                                                           {"FusedIterator", "std::iter::empty()"},
                                                           {"IntoIterator", "Vec::new()"},
                                                           {"Future", "std::future::pending()"},
                                                           {"Display", "String::new()"},
                                                           {"Debug", "String::new()"},
                                                           {"ToString", "String::new()"},
                                                           {"Into", "String::new()"}};
    std::string value;
    if (name == "Fn" || name == "FnMut" || name == "FnOnce") {
        std::string names;
        for (std::size_t count = split_list(parameters).size(); count > 0; --count) { names += count == 1 ? "_" : "_, "; }
        value = "move |" + names + "| todo!()";
    } else if (const auto known = values.find(name); known != values.end()) {
        value = known->second;
    }
    if (value.empty() || around.empty()) { return value; }
    return (around == "Option" ? "Some(" : "Ok(") + value + ")";
}

Generics generics_of(const std::string& text, const std::string& owner) {
    Generics result;
    const auto code = read_code(text, bracket_rules()).code;
    const RE2 head(R"(\b(?:struct|enum|union)\s+)" + owner + R"(\b\s*)");
    re2::StringPiece found;
    if (!head.Match(code, 0, code.size(), RE2::UNANCHORED, &found, 1)) { return result; }
    auto at = static_cast<std::size_t>(found.data() - code.data()) + found.size();
    if (at < code.size() && code[at] == '<') {
        const auto close = closing_angle(code, at);
        if (close == std::string::npos) { return result; }
        for (const auto& each : split_list(std::string_view(text).substr(at + 1, close - at - 1))) {
            static const RE2 preset(R"(\s=\s[^=].*$)");
            auto declared = each;
            RE2::Replace(&declared, preset, "");
            result.declared += (result.declared.empty() ? "" : ", ") + declared;
            auto name = declared.substr(0, declared.find(':'));
            if (name.starts_with("const ")) { name.erase(0, 6); }
            result.used += (result.used.empty() ? "" : ", ") + without_outer_blanks(name);
        }
        at = close + 1;
    }
    const auto end = std::min(code.find_first_of("{;", at), code.size());
    const auto bounds = code.find("where", at);
    if (bounds < end) { result.bounds = without_outer_blanks(std::string_view(text).substr(bounds, end - bounds)); }
    if (!result.declared.empty()) { result.declared = "<" + result.declared + ">"; }
    if (!result.used.empty()) { result.used = "<" + result.used + ">"; }
    return result;
}

const std::string* functions_of_trait(const std::string& name) {
    static const std::string fmt = "fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result;";
    static const std::map<std::string, std::string> known{
        {"Display", fmt},
        {"Debug", fmt},
        {"Error", ""},
        {"Eq", ""},
        {"Copy", ""},
        {"Drop", "fn drop(&mut self);"},
        {"Default", "fn default() -> Self;"},
        {"Clone", "fn clone(&self) -> Self;"},
        {"PartialEq", "fn eq(&self, other: &%) -> bool;"},
        {"PartialOrd", "fn partial_cmp(&self, other: &%) -> Option<std::cmp::Ordering>;"},
        {"Ord", "fn cmp(&self, other: &Self) -> std::cmp::Ordering;"},
        {"Hash", "fn hash<H: std::hash::Hasher>(&self, state: &mut H);"},
        {"From", "fn from(value: %) -> Self;"},
        {"AsRef", "fn as_ref(&self) -> &%;"}};
    const auto found = known.find(name);
    return found == known.end() ? nullptr : &found->second;
}

std::string unused_parameters(const std::string& signature) {
    std::string generics;
    if (!RE2::PartialMatch(signature, R"(\bstruct\s+\w+\s*<(.*)>\s*$)", &generics)) { return {}; }
    std::string used;
    for (const auto& each : split_list(generics)) {
        auto name = each.substr(0, each.find_first_of(":="));
        while (!name.empty() && name.back() == ' ') { name.pop_back(); }
        if (name.starts_with("const ")) { continue; }
        used += (name.starts_with('\'') ? "&" + name + " ()" : name) + ", ";
    }
    return used.empty() ? std::string{} : "(std::marker::PhantomData<(" + used + ")>)";
}

void insert_use(std::string& text, const std::string& path) {
    // Not the documentation of what follows.
    static const RE2 head(R"((?:(?:[ \t]*(?://(?:[^/\n][^\n]*)?|#!\[[^\n]*))?\n)*)");
    re2::StringPiece rest(text);
    const bool says = text.starts_with("//!") || text.starts_with("#![");
    if (says) { RE2::Consume(&rest, head); }
    text.insert(static_cast<std::size_t>(rest.data() - text.data()), "use " + path + ";\n");
}

std::string crate_of(const std::string& path) {
    const auto sources = path.starts_with("src/") ? 0 : path.rfind("/src/");
    return sources == std::string::npos ? std::string() : path.substr(0, sources + (path.starts_with("src/") ? 3 : 4));
}

std::string module_path(const std::string& path) {
    auto inside = path.substr(std::min(path.size(), crate_of(path).size() + 1));
    inside = inside.substr(0, inside.rfind('.'));
    if (inside == "lib" || inside == "main") { return {}; }
    if (inside.ends_with("/mod")) { inside.resize(inside.size() - 4); }
    for (auto at = inside.find('/'); at != std::string::npos; at = inside.find('/', at)) { inside.replace(at, 1, "::"); }
    return "::" + inside;
}

bool in_impl(const std::string& code, std::size_t place, const std::string& owner) {
    static const RE2 begin(R"((?m)^\s*impl\b[^{;]*\{)");
    re2::StringPiece rest(code);
    re2::StringPiece found;
    std::size_t at = 0;
    while (at < code.size() && begin.Match(code, at, code.size(), RE2::UNANCHORED, &found, 1)) {
        const auto open = static_cast<std::size_t>(found.data() - code.data()) + found.size() - 1;
        const auto close = closing_bracket(code, open);
        if (close == std::string::npos) { return false; }
        if (place > open && place < close) {
            std::string of;
            RE2::PartialMatch(found, R"((?:\bfor\s+)(\w+)[^{]*\{)", &of) ||
                RE2::PartialMatch(found, R"(^\s*impl\s*(?:<[^{]*?>)?\s*(\w+)[^{]*\{)", &of);
            return of == owner;
        }
        at = close;
    }
    return owner.empty();
}

std::string likely_owner(const std::string& text, const std::string& name) {
    const auto code = read_code(text, bracket_rules()).code;
    std::set<std::string> types;
    std::string type;
    re2::StringPiece rest(code);
    static const RE2 declares(R"((?m)^\s*(?:#\[[^\]]*\]\s*)*(?:pub(?:\([a-z ]+\))?\s+)?(?:struct|enum|union)\s+(\w+))");
    while (RE2::FindAndConsume(&rest, declares, &type)) { types.insert(type); }
    const RE2 method(R"(\bfn\s+)" + name + R"(\b)");
    re2::StringPiece found;
    for (std::size_t at = 0; method.Match(code, at, code.size(), RE2::UNANCHORED, &found, 1);) {
        at = static_cast<std::size_t>(found.data() - code.data()) + found.size();
        for (const auto& each : types) {
            if (in_impl(code, at, each)) { return each; }
        }
    }
    return types.size() == 1 ? *types.begin() : std::string{};
}

std::span<const std::pair<std::string_view, std::string_view>> standard_rust_modules() { return rust_modules; }

}  // namespace agentforge::kernel
