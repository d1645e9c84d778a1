// SPDX-License-Identifier: Apache-2.0
#include "gates/stubs/skeleton_plain.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <re2/re2.h>

#include "gates/language/source_text.hpp"

namespace agentforge::kernel {
namespace {

struct PlainKind {
    std::string_view name;
    const char* function;  ///< RE2 of a whole signature. Its last group is the name.
    const char* bare;      ///< The same without the word before it, `prefix`.
    const char* prefix;
    const char* type;   ///< RE2 of a whole declaration of a type. Its last group is the name.
    const char* value;  ///< The same for a constant, a variable or a type alias.
    const char* named;  ///< RE2 of a type or value in a file. `%` is the name.
    const char*
        head;  ///< RE2 of the text before a function's parameters in a file. `%` is the name; the first group is a receiver.
};

// Parameters contain no braces, semicolons or comments. `interface{}` and `struct{}` are removed before a signature is matched.
constexpr PlainKind plain_kinds[] = {
    {"go", R"(func\s+(?:\([^(){};]*\)\s*)?(\w+)(?:\[(?:[^\[\]{};]|\[[^\[\]{};]*\])*\])?\s*\([^{};]*)", R"((\w+)\s*\([^{};]*)",
     "func ", R"((?s)type\s+(\w+)(?:\[(?:[^\[\]]|\[[^\[\]]*\])*\])?\s+(?:=\s*)?[^\s(].*)", R"((?:const|var)\s+(\w+)\b[^\n;]*)",
     R"((?m)^(?:type|const|var)\s+%\b|^\t%(?:\s+[\w.\[\]]+)?\s*=[^=])",
     R"((?m)^func\s+(\([^)]*\)\s*)?%\s*(?:\[(?:[^\[\]]|\[[^\[\]]*\])*\]\s*)?\()"},
    {"rust",
     R"((?:#\[[^\]]*\]\s*)*(?:pub(?:\([a-z ]+\))?\s+)?(?:const\s+|async\s+|unsafe\s+|extern\s+"[^"]*"\s+)*fn\s+(\w+)\s*(?:<[^{};]*>)?\s*\([^{};]*)",
     R"((\w+)\s*\([^{};]*)", "pub fn ",
     R"((?s)(?:#\[[^\]]*\]\s*)*(?:pub(?:\([a-z ]+\))?\s+)?(?:struct|enum|union|trait)\s+(\w+)\s*(?:<[^{};]*>)?(?:\s*:[^{};]*)?(?:\s*where\b[^{};]*)?\s*(?:\([^{}]*\)\s*(?:where\b[^{};]*)?;?|;|\{.*\})?)",
     R"((?:pub(?:\([a-z ]+\))?\s+)?(?:const|static|type)\s+(\w+)\s*[:=<][^{}]*)",
     R"((?m)^\s*(?:#\[[^\]]*\]\s*)*(?:pub(?:\([a-z ]+\))?\s+)?(?:struct|enum|union|trait|const|static|type)\s+%\b)",
     R"((?m)^[ \t]*(?:pub(?:\([a-z ]+\))?\s+)?(?:const\s+|async\s+|unsafe\s+)*fn\s+()%\s*(?:<[^{};()]*>)?\s*\()"},
    {"java",
     R"((?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|protected|private|static|final|abstract|synchronized|default)\s+)+(?:<[^{};]*>\s*)?(?:[\w.<>\[\], ?]+\s+)?(\w+)\s*\([^{};]*)",
     R"((?:<[^{};]*>\s*)?[\w.<>\[\], ?]+\s+(\w+)\s*\([^{};]*)", "public static ",
     R"((?s)(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|protected|private|static|final|abstract|sealed|non-sealed|strictfp)\s+)*(?:class|interface|enum|record|@interface)\s+(\w+)\b.*)",
     R"((?:(?:public|protected|private|static|final)\s+)+[\w.<>\[\], ?]+\s+(\w+)\s*(?:=[^{}]*)?)",
     R"((?m)^[^/*\n(]*\b(?:class|interface|enum|record|[\w.<>\[\]?]+)\s+%\s*(?:[={;<]|extends|implements|$))",
     R"((?m)^[ \t]*()(?:(?:public|protected|private|static|final|abstract|synchronized)\s+)*(?:<[^{};()]*>\s*)?(?:[\w.<>\[\], ?]+\s+)?%\s*\()"},
};

/// Standard library packages that a signature may name by their last part.
constexpr std::pair<std::string_view, std::string_view> go_packages[] = {
    {"errors", "errors"},      {"fmt", "fmt"},         {"time", "time"},       {"io", "io"},
    {"context", "context"},    {"sync", "sync"},       {"strings", "strings"}, {"bytes", "bytes"},
    {"bufio", "bufio"},        {"os", "os"},           {"regexp", "regexp"},   {"math", "math"},
    {"big", "math/big"},       {"rand", "math/rand"},  {"http", "net/http"},   {"url", "net/url"},
    {"json", "encoding/json"}, {"sort", "sort"},       {"reflect", "reflect"}, {"log", "log"},
    {"iter", "iter"},          {"slices", "slices"},   {"maps", "maps"},       {"cmp", "cmp"},
    {"utf8", "unicode/utf8"},  {"unicode", "unicode"}, {"strconv", "strconv"}, {"list", "container/list"},
    {"heap", "container/heap"}};
constexpr std::pair<std::string_view, std::string_view> java_packages[] = {
    {"java.util",
     "List Map Set Optional OptionalInt ArrayList LinkedList HashMap TreeMap LinkedHashMap HashSet TreeSet Collection Iterator Queue Deque ArrayDeque PriorityQueue "
     "Comparator Date UUID Random Locale NoSuchElementException BitSet Objects Arrays Collections Scanner SortedMap SortedSet"},
    {"java.util.function",
     "Function BiFunction Predicate BiPredicate Supplier Consumer BiConsumer UnaryOperator BinaryOperator IntPredicate IntFunction IntUnaryOperator"},
    {"java.util.stream", "Stream IntStream LongStream Collectors"},
    {"java.time", "LocalDate LocalDateTime LocalTime Instant Duration DayOfWeek Month ZonedDateTime Year YearMonth Period"},
    {"java.math", "BigDecimal BigInteger"},
    {"java.io", "IOException InputStream OutputStream Reader Writer File"},
    {"java.nio.file", "Path Files"},
    {"java.util.concurrent", "Callable Future ExecutorService CompletableFuture TimeUnit ConcurrentHashMap"}};

/// Rust: names that a declaration may use without their path.
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

/// Rules for reading these languages that only tell brackets from strings and comments.
CodeRules bracket_rules() {
    CodeRules rules;
    rules.line_comments = {"//"};
    rules.comment_begins = "/*";
    rules.comment_ends = "*/";
    rules.quotes = {{"`", "`", false, true, false}, {"\"", "\"", true, false, false}, {"'", "'", true, false, true}};
    return rules;
}

std::string without_blanks(std::string_view text) {
    std::string result;
    for (const auto each : text) {
        if (each != ' ' && each != '\t' && each != '\n' && each != '\r') { result += each; }
    }
    return result;
}

/// Returns the position of the bracket that closes an opening one; npos: none.
std::size_t closing_bracket(std::string_view code, std::size_t open) {
    std::size_t depth = 0;
    for (auto at = open; at < code.size(); ++at) {
        if (code[at] == '(' || code[at] == '{' || code[at] == '[') { ++depth; }
        if ((code[at] == ')' || code[at] == '}' || code[at] == ']') && --depth == 0) { return at; }
    }
    return std::string_view::npos;
}

std::vector<std::string> split_list(std::string_view text) {
    std::vector<std::string> parts(1);
    int depth = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char each = text[at];
        if (each == '(' || each == '[' || each == '{' || each == '<') { ++depth; }
        if (each == ')' || each == ']' || each == '}' || (each == '>' && (at == 0 || text[at - 1] != '-'))) { --depth; }
        if (each == ',' && depth == 0) {
            parts.emplace_back();
        } else {
            parts.back() += each;
        }
    }
    for (auto& part : parts) {
        const auto first = part.find_first_not_of(" \t\n");
        part = first == std::string::npos ? std::string{} : part.substr(first, part.find_last_not_of(" \t\n") - first + 1);
    }
    std::erase(parts, "");
    return parts;
}

/// Names and types of parameters: `a, b int`, `a: i32`, `int a`.
/// Rust infers the type of an `impl Trait` from the value that the body ends with; a panic has none. Returns such a value. Empty
/// if the function returns another type, or a trait without a known value.
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

struct Parameters {
    std::vector<std::string> names;
    std::string types;
};

Parameters read_parameters(std::string_view kind, std::string_view text) {
    Parameters result;
    const auto parts = split_list(text);
    const bool named =
        std::any_of(parts.begin(), parts.end(), [](const std::string& part) { return part.find(' ') != std::string::npos; });
    std::string type;
    std::vector<std::string> types;
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
        if (kind == "go") {
            const auto blank = part->find(' ');
            const bool only_name = named && blank == std::string::npos;
            if (!only_name) { type = named ? part->substr(blank + 1) : *part; }
            if (named) { result.names.push_back(part->substr(0, blank)); }
        } else if (kind == "rust") {
            const auto colon = part->find(':');
            type = colon == std::string::npos ? *part : part->substr(colon + 1);
            auto name = colon == std::string::npos ? std::string("self") : part->substr(0, colon);
            if (name.starts_with("mut ")) { name.erase(0, 4); }
            result.names.push_back(name);
        } else {
            const auto blank = part->find_last_of(" \t");
            type = blank == std::string::npos ? *part : part->substr(0, blank);
            if (type.starts_with("final ")) { type.erase(0, 6); }
            if (blank != std::string::npos) { result.names.push_back(part->substr(blank + 1)); }
        }
        types.push_back(without_blanks(type));
    }
    for (auto each = types.rbegin(); each != types.rend(); ++each) { result.types += *each + ","; }
    return result;
}

/// The parts of a function's header that callers and the body depend on.
struct Head {
    Parameters parameters;
    std::string result;
};

/// `text`: a header up to its body. `open`: the opening bracket of its parameters.
Head read_head(std::string_view kind, std::string_view text, std::size_t open) {
    Head head;
    // `java.nio.file.Path` and `Path` are the same type if it is imported.
    std::string unqualified(text);
    if (kind == "java") {
        const std::string before(unqualified.substr(0, open));
        static const RE2 qualifier(R"(\b(?:[a-z_]\w*\.)+([A-Z]))");
        std::string shorter = before;
        RE2::GlobalReplace(&shorter, qualifier, R"(\1)");
        RE2::GlobalReplace(&unqualified, qualifier, R"(\1)");
        open = shorter.size();
        text = unqualified;
    }
    const auto close = closing_bracket(text, open);
    if (close == std::string_view::npos) { return head; }
    head.parameters = read_parameters(kind, text.substr(open + 1, close - open - 1));
    if (kind == "java") {
        RE2::PartialMatch(re2::StringPiece(text.data(), open), R"(([\w.<>\[\],?]+)\s+\w+\s*$)", &head.result);
        return head;
    }
    auto rest = std::string(text.substr(close + 1));
    const auto first = rest.find_first_not_of(" \t\n");
    rest = first == std::string::npos ? std::string{} : rest.substr(first);
    const bool several = kind == "go" && !rest.empty() && rest.front() == '(';
    head.result = several ? read_parameters(kind, std::string_view(rest).substr(1, closing_bracket(rest, 0) - 1)).types
                          : without_blanks(rest);
    return head;
}

std::string trimmed_signature(std::string_view text) {
    while (!text.empty() && (text.back() == ';' || text.back() == ' ' || text.back() == '\n')) { text.remove_suffix(1); }
    while (!text.empty() && (text.front() == ' ' || text.front() == '\n')) { text.remove_prefix(1); }
    return std::string(text);
}

std::string last_part(std::string_view name) {
    const auto cut = name.find_last_of(".:");
    return std::string(cut == std::string_view::npos ? name : name.substr(cut + 1));
}

std::string stem_of(std::string_view path) {
    const auto slash = path.rfind('/');
    const auto name = slash == std::string_view::npos ? path : path.substr(slash + 1);
    return std::string(name.substr(0, name.find('.')));
}

std::string folder_path(std::string_view path) {
    const auto slash = path.rfind('/');
    return slash == std::string_view::npos ? std::string{} : std::string(path.substr(0, slash));
}

/// Returns where the `>` is that closes the `<` at `open`; npos: none. `->` closes nothing.
std::size_t closing_angle(std::string_view code, std::size_t open) {
    std::size_t depth = 0;
    for (auto at = open; at < code.size(); ++at) {
        if (code[at] == '<') { ++depth; }
        if (code[at] == '>' && (at == 0 || (code[at - 1] != '-' && code[at - 1] != '=')) && --depth == 0) { return at; }
    }
    return std::string_view::npos;
}

std::string without_outer_blanks(std::string_view text) {
    const auto first = text.find_first_not_of(" \t\n\r");
    return first == std::string_view::npos ? std::string{}
                                           : std::string(text.substr(first, text.find_last_not_of(" \t\n\r") - first + 1));
}

/// Rust: what an `impl` of a type repeats: `<T: Ord>`, `<T>` and `where T: Clone`.
struct Generics {
    std::string declared;
    std::string used;
    std::string bounds;
};

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

/// Rust: the functions of well-known traits that need no associated type. `%` is the trait's argument. Nothing for another trait.
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

/// Java: a type in a file.
struct TypeRange {
    std::string kind;  ///< class, interface, enum, record.
    std::string name;
    std::size_t open = 0;
    std::size_t close = 0;
};

std::vector<TypeRange> java_types(const std::string& code) {
    std::vector<TypeRange> types;
    static const RE2 head(R"(\b(class|interface|enum|record)\s+(\w+))");
    re2::StringPiece parts[3];
    for (std::size_t at = 0; at < code.size() && head.Match(code, at, code.size(), RE2::UNANCHORED, parts, 3);) {
        at = static_cast<std::size_t>(parts[0].data() - code.data()) + parts[0].size();
        auto open = code.find_first_of("{(;", at);
        if (open != std::string::npos && code[open] == '(') {
            const auto close = closing_bracket(code, open);
            open = close == std::string::npos ? close : code.find_first_of("{;", close);
        }
        if (open == std::string::npos || code[open] != '{') { continue; }
        const auto close = closing_bracket(code, open);
        if (close != std::string::npos) { types.push_back({std::string(parts[1]), std::string(parts[2]), open, close}); }
    }
    return types;
}

/// Java: the `;` after an enum's constants; npos: they have none.
std::size_t end_of_constants(const std::string& code, const TypeRange& type) {
    for (auto at = type.open + 1; at < type.close; ++at) {
        if (code[at] == '(' || code[at] == '{') { at = std::min(closing_bracket(code, at), type.close); }
        if (code[at] == ';') { return at; }
    }
    return std::string::npos;
}

/// Java: gives a body to each method that a class, a record or an enum in this declaration lacks it for.
std::string with_java_bodies(const std::string& text, const std::string& marker) {
    const auto code = read_code(text, bracket_rules()).code;
    const auto types = java_types(code);
    std::map<std::size_t, std::string, std::greater<>> bodies;
    for (const auto& type : types) {
        auto begin = type.open + 1;
        if (type.kind == "enum") { begin = std::min(end_of_constants(code, type), type.close - 1) + 1; }
        for (auto at = begin; at < type.close; ++at) {
            if (code[at] == '(') { at = std::min(closing_bracket(code, at), type.close); }
            if (code[at] == '{') {
                at = std::min(closing_bracket(code, at), type.close);
                begin = at + 1;
            }
            if (at >= type.close || code[at] != ';') { continue; }
            const auto member = code.substr(begin, at - begin);
            begin = at + 1;
            static const RE2 method(R"((?s)^[^=]*?(\w+)\s*\([^()]*\)\s*(?:throws\s+[\w., ]+)?\s*$)");
            static const RE2 abstract(R"(\b(?:abstract|native)\b)");
            static const RE2 of_interface(R"(\b(?:default|static|private)\b)");
            std::string name;
            if (!RE2::FullMatch(member, method, &name) || RE2::PartialMatch(member, abstract) ||
                (type.kind == "interface" && !RE2::PartialMatch(member, of_interface))) {
                continue;
            }
            bodies[at] = " { throw new UnsupportedOperationException(\"" + marker + " " + name + "\"); }";
        }
    }
    std::string result = text;
    for (const auto& [at, body] : bodies) { result.replace(at, 1, body); }
    return result;
}

/// Go: a removed body may have been the only user of an import.
std::string without_unused_imports(const std::string& text) {
    const auto code = read_code(text, bracket_rules()).code;
    static const RE2 import_line(R"re((?m)^(\s*(?:import\s+)?)(?:([\w.]+)\s+)?"([^"\n]+)"[ \t]*(?://.*)?$)re");
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
        const auto end = std::min(text.find('\n', at), text.size());
        const auto line = text.substr(at, end - at);
        std::string lead;
        std::string alias;
        std::string path;
        std::string written = line;
        if (RE2::FullMatch(line, import_line, &lead, &alias, &path) && alias != "_" && alias != "." && path != "C") {
            static const RE2 last(R"(([A-Za-z_]\w*)(?:/v\d+|\.v\d+)?$)");
            auto name = alias;
            if (name.empty()) { RE2::PartialMatch(path, last, &name); }
            if (!name.empty() && !RE2::PartialMatch(code, R"(\b)" + name + R"(\.\w)")) { written = lead + "_ \"" + path + "\""; }
        }
        result += written + (end < text.size() ? "\n" : "");
        at = end + 1;
    }
    return result;
}

class PlainWriter {
public:
    PlainWriter(const PlainKind& kind, const std::map<std::string, std::string>& contents,
                const std::vector<std::string>& existing, const std::string& marker)
        : kind_(kind), contents_(contents), existing_(existing), marker_(marker) {}

    void declare(const SkeletonInterface& interface) {
        const auto signature = trimmed_signature(interface.signature);
        const auto plain = without_empty_types(signature);
        if (plain.find("//") != std::string::npos || plain.find("/*") != std::string::npos) {
            return add_problem(interface, "a signature must not contain comments");
        }
        if (kind_.name == "rust" && RE2::PartialMatch(signature, R"(^(?:unsafe\s+)?impl\b)")) {
            const auto what = declare_impl(interface.file, signature);
            return what.empty() ? void() : add_problem(interface, what);
        }
        if (kind_.name == "go" && RE2::PartialMatch(signature, R"(^(?:const|var)\s*\()")) {
            return declare_group(interface, signature);
        }
        std::string name;
        const bool type = RE2::FullMatch(signature, kind_.type, &name);
        if (type || RE2::FullMatch(signature, kind_.value, &name)) {
            declare_type_or_value(interface, name, signature, type);
        } else {
            declare_function(interface, signature, plain);
        }
    }

    /// Registers the types to be declared, because a declaration may name a type of another file.
    void register_types(const std::vector<SkeletonInterface>& interfaces) {
        for (const auto& each : interfaces) {
            std::string name;
            const auto signature = trimmed_signature(each.signature);
            if (RE2::FullMatch(signature, kind_.type, &name) || RE2::FullMatch(signature, kind_.value, &name)) {
                declared_types_.emplace(name, each.file);
            }
        }
    }

    Skeletons take() {
        for (auto& [path, text] : files_) {
            if (kind_.name == "go") { text = without_unused_imports(text); }
            const auto before = contents_.find(path);
            if (result_.problems.empty() && (before == contents_.end() || before->second != text)) {
                result_.files.emplace_back(path, text);
            }
        }
        return std::move(result_);
    }

private:
    enum class Known : unsigned char { no = 1, as_wanted, changed };

    static std::string with_name(const char* pattern, const std::string& name) {
        std::string text = pattern;
        for (auto at = text.find('%'); at != std::string::npos; at = text.find('%', at + name.size())) {
            text.replace(at, 1, name);
        }
        return text;
    }

    /// In Go, also searches the other files of the package.
    [[nodiscard]] bool is_named(const std::string& path, const std::string& name) const {
        const RE2 pattern(with_name(kind_.named, name));
        const auto written = files_.find(path);
        const auto given = contents_.find(path);
        if (written != files_.end() ? RE2::PartialMatch(written->second, pattern)
                                    : given != contents_.end() && RE2::PartialMatch(given->second, pattern)) {
            return true;
        }
        return kind_.name == "go" && std::any_of(contents_.begin(), contents_.end(), [&](const auto& each) {
                   return each.first != path && folder_path(each.first) == folder_path(path) && each.first.ends_with(".go") &&
                          !each.first.ends_with("_test.go") && RE2::PartialMatch(each.second, pattern);
               });
    }

    void add_problem(const SkeletonInterface& interface, const std::string& what) {
        result_.problems.push_back(interface.name + " (" + interface.file + "): " + what);
    }

    /// Braces in a signature must be those of a body.
    [[nodiscard]] std::string without_empty_types(std::string signature) const {
        for (const char* empty : {"interface{}", "struct{}"}) {
            for (auto at = signature.find(empty); at != std::string::npos; at = signature.find(empty)) {
                signature.replace(at, std::string_view(empty).size(), "any");
            }
        }
        static const RE2 constraint(R"(\b(?:interface|struct)\s*\{[^{}]*\})");
        if (kind_.name == "go") { RE2::GlobalReplace(&signature, constraint, "any"); }
        return signature;
    }

    void declare_type_or_value(const SkeletonInterface& interface, const std::string& name, const std::string& signature,
                               bool type) {
        if (name != last_part(interface.name)) { return add_problem(interface, "the signature declares `" + name + "`"); }
        if (is_named(interface.file, name)) { return; }
        if (type) {
            declare_type(interface.file, name, signature);
        } else {
            declare_value(interface, signature);
        }
        if (kind_.name == "rust") { use_types_of_others(interface.file, signature); }
    }

    /// `plain`: the signature without empty types.
    void declare_function(const SkeletonInterface& interface, std::string signature, const std::string& plain) {
        std::string name;
        if (!RE2::FullMatch(plain, kind_.function, &name)) {
            if (!RE2::FullMatch(plain, kind_.bare, &name)) {
                return add_problem(interface,
                                   "`" + signature + "` must be one function without a body, or a type, or a constant");
            }
            if (kind_.name != "java" || !is_interface(interface.file)) { signature = kind_.prefix + signature; }
        }
        if (name != last_part(interface.name)) { return add_problem(interface, "the signature declares `" + name + "`"); }
        auto& text = content(interface.file);
        auto owner = owner_of(interface.name, signature);
        static const RE2 method(R"(\(\s*(?:&\s*(?:'\w+\s+)?)?(?:mut\s+)?self\b)");
        if (kind_.name == "rust" && owner.empty() && RE2::PartialMatch(signature, method)) {
            owner = likely_owner(text, name);
            if (owner.empty()) {
                return add_problem(interface, "`" + signature + "` is a method; name its type: `Type::" + name + "`");
            }
        }
        const auto known = change(text, name, owner, signature);
        if (known == Known::as_wanted) { return; }
        if (known == Known::no) { write_function(interface, text, name, owner, signature); }
        import_what_is_named(content(interface.file), signature);
        if (kind_.name == "rust") { use_types_of_others(interface.file, signature); }
    }

    void declare_type(const std::string& path, const std::string& name, std::string signature) {
        const bool bare = signature.find('{') == std::string::npos;
        if (kind_.name == "go" && bare && (signature.ends_with("struct") || signature.ends_with("interface"))) {
            signature += "{}";
        }
        if (kind_.name == "rust" && bare && !signature.ends_with(';')) {
            signature += RE2::PartialMatch(signature, R"(\b(?:struct|union)\s+\w)") ? unused_parameters(signature) + ";" : " {}";
        }
        if (kind_.name == "java") {
            signature = bare ? signature + " {\n}" : with_java_bodies(signature, marker_);
            if (stem_of(path) == name && !files_.contains(path) && !contents_.contains(path)) {
                files_.emplace(path, package_line(path) + signature + "\n");
            } else if (stem_of(path) != name ||
                       !RE2::PartialMatch(content(path), R"(\b(?:class|interface|enum|record)\s+)" + name + R"(\b)")) {
                if (!RE2::PartialMatch(signature, R"(\bstatic\b)")) {
                    signature = std::string(RE2::PartialMatch(signature, "^public") ? "public static " : "static ") +
                                signature.substr(signature.starts_with("public ") ? 7 : 0);
                }
                write(content(path), "    " + signature + "\n");
            }
        } else {
            write(content(path), signature + "\n");
        }
        import_what_is_named(content(path), signature);
    }

    /// Rust: a type must use its parameters: `(std::marker::PhantomData<(K, V)>)`. Empty: it has none.
    static std::string unused_parameters(const std::string& signature) {
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

    void declare_value(const SkeletonInterface& interface, const std::string& signature) {
        const auto& path = interface.file;
        auto& text = content(path);
        if (const auto owner = owner_of(interface.name, signature); kind_.name == "rust" && !owner.empty()) {
            write_in_impl(path, text, owner, "    " + signature + ";\n");
            return import_what_is_named(text, signature);
        }
        const auto line = (kind_.name == "java" ? "    " : "") + signature + (kind_.name == "go" ? "\n" : ";\n");
        if (kind_.name == "java") {
            const auto open = text.find('{');
            text.insert(open == std::string::npos ? text.size() : open + 1, "\n" + line.substr(0, line.size() - 1));
        } else {
            write(text, line);
        }
        import_what_is_named(text, signature);
    }

    /// Go: a group of constants or variables, of which one has the interface's name.
    void declare_group(const SkeletonInterface& interface, const std::string& signature) {
        const auto name = last_part(interface.name);
        static const RE2 first(R"(\(\s*(\w+))");
        std::string begins;
        if (!RE2::PartialMatch(signature, first, &begins) || is_named(interface.file, begins) || is_named(interface.file, name)) {
            return;
        }
        write(content(interface.file), signature + "\n");
        import_what_is_named(content(interface.file), signature);
    }

    /// Rust: writes an `impl` with the skeleton's body for each function. Returns why it cannot.
    std::string declare_impl(const std::string& path, const std::string& signature) {
        const auto code = read_code(signature, bracket_rules()).code;
        const auto open = code.find('{');
        auto head = without_outer_blanks(std::string_view(signature).substr(0, std::min(open, signature.size())));
        static const RE2 parts_of(
            R"((?s)^(?:unsafe\s+)?impl\b\s*(?:<.*?>\s+|<[^<>]*>\s*)?(?:(?:\w+::)*(\w+)\s*(<.*>)?\s+for\s+)?&?.*$)");
        std::string trait;
        std::string argument;
        if (!RE2::FullMatch(head, parts_of, &trait, &argument)) { return "`" + signature + "` is not an `impl`"; }
        std::string body;
        if (open != std::string::npos) {
            const auto close = closing_bracket(code, open);
            if (close == std::string::npos) { return "the brackets in `" + signature + "` do not match"; }
            body = signature.substr(open + 1, close - open - 1);
        } else if (const auto* known = functions_of_trait(trait); known != nullptr) {
            body = *known;
            auto other = argument.size() > 2 ? argument.substr(1, argument.size() - 2) : std::string("Self");
            if (const auto at = body.find('%'); at != std::string::npos) { body.replace(at, 1, other); }
        } else {
            return "give the associated types and functions of `" + head + "`, the functions without bodies, such as `" + head +
                   " { type Output = i32; fn name(&self) -> i32; }`";
        }
        auto& text = content(path);
        if (without_blanks(text).find(without_blanks(head) + "{") != std::string::npos) { return {}; }
        const auto lines = impl_lines(body, trait);
        if (!lines.starts_with("    ") && !lines.empty()) { return lines; }
        write(text, head + (lines.empty() ? " {}\n" : " {\n" + lines + "}\n"));
        import_what_is_named(content(path), head + body);
        use_types_of_others(path, head + body);
        return {};
    }

    /// Returns the indented items of an `impl`. Else a problem, which is not indented.
    [[nodiscard]] std::string impl_lines(const std::string& body, const std::string& trait) const {
        const auto code = read_code(body, bracket_rules()).code;
        std::string lines;
        for (std::size_t begin = 0; begin < body.size();) {
            auto end = begin;
            while (end < code.size() && code[end] != ';' && code[end] != '{') {
                end = code[end] == '(' || code[end] == '[' ? std::min(closing_bracket(code, end), code.size() - 1) + 1 : end + 1;
            }
            const auto item = without_outer_blanks(std::string_view(body).substr(begin, end - begin));
            const bool has_body = end < code.size() && code[end] == '{';
            begin = has_body ? std::min(closing_bracket(code, end), code.size() - 1) + 1 : end + 1;
            if (item.empty()) { continue; }
            std::string name;
            if (RE2::FullMatch(item, kind_.function, &name)) {
                // A destructor that panics ends the whole program.
                lines += (lines.empty() ? "    " : "\n    ") +
                         (trait == "Drop" ? item + " {}" : function_text(item, name, "    ")) + "\n";
            } else if (!has_body && RE2::PartialMatch(item, R"(^(?:#\[[^\]]*\]\s*)*(?:pub\s+)?(?:type|const)\s)")) {
                lines += "    " + item + ";\n";
            } else {
                return "`" + item + "` is neither a function nor a type nor a constant";
            }
        }
        return lines;
    }

    /// Rust: writes into an `impl` of the type that this writer began, or into the trait of that name.
    void write_in_impl(const std::string& path, std::string& text, const std::string& owner, const std::string& lines) {
        const auto generics = generics_of(text, owner);
        const auto block = "impl" + generics.declared + " " + owner + generics.used +
                           (generics.bounds.empty() ? std::string() : " " + generics.bounds) + " {\n";
        const auto mark = text.rfind(block);
        if (!is_ours(path, block) || mark == std::string::npos) {
            ours_.insert(path + block);
            return write(text, block + lines + "}\n");
        }
        const auto end = closing_bracket(text, mark + block.size() - 2);
        text.insert(end, "\n" + lines);
    }

    /// Rust: adds a function to a trait of the file. False: it has no such trait.
    bool write_in_trait(std::string& text, const std::string& name, const std::string& owner, std::string signature) const {
        const auto code = read_code(text, bracket_rules()).code;
        const RE2 head(R"(\btrait\s+)" + owner + R"(\b[^{;]*\{)");
        re2::StringPiece found;
        if (!head.Match(code, 0, code.size(), RE2::UNANCHORED, &found, 1)) { return false; }
        const auto open = static_cast<std::size_t>(found.data() - code.data()) + found.size() - 1;
        const auto close = closing_bracket(code, open);
        if (close == std::string::npos) { return false; }
        const re2::StringPiece body(code.data() + open, close - open);
        if (RE2::PartialMatch(body, R"(\bfn\s+)" + name + R"(\b)")) { return true; }
        static const RE2 visible(R"(\bpub(?:\([a-z ]+\))?\s+)");
        RE2::Replace(&signature, visible, "");
        // An existing trait has other implementations.
        const auto before = contents_.find(path_of(text));
        const bool is_new = before == contents_.end() || !RE2::PartialMatch(before->second, head);
        auto place = close;
        while (place > open + 1 && (text[place - 1] == ' ' || text[place - 1] == '\t')) { --place; }
        text.insert(place, std::string(text[place - 1] == '\n' ? "" : "\n") + "    " +
                               (is_new ? signature + ";" : function_text(signature, name, "    ")) + "\n");
        return true;
    }

    /// Returns the path of one of the written files.
    [[nodiscard]] std::string path_of(const std::string& text) const {
        const auto found = std::find_if(files_.begin(), files_.end(), [&](const auto& each) { return &each.second == &text; });
        return found == files_.end() ? std::string() : found->first;
    }

    /// Java: writes a method into the type that its name gives, else into that of the file.
    void write_java_method(const SkeletonInterface& interface, std::string& text, const std::string& name,
                           std::string signature) {
        const auto code = read_code(text, bracket_rules()).code;
        const auto types = java_types(code);
        const auto dot = interface.name.find_last_of(".#");
        const auto owner = dot == std::string::npos ? std::string() : last_part(std::string_view(interface.name).substr(0, dot));
        const auto named = [&](const std::string& wanted) {
            return std::find_if(types.begin(), types.end(), [&](const TypeRange& each) { return each.name == wanted; });
        };
        auto type = owner.empty() ? types.end() : named(owner);
        if (type == types.end()) { type = named(stem_of(interface.file)); }
        if (type == types.end()) { return write(text, "    " + function_text(signature, name, "    ") + "\n"); }
        const bool has_body = type->kind == "interface" ? RE2::PartialMatch(signature, R"(\b(?:static|default|private)\b)")
                                                        : !RE2::PartialMatch(signature, R"(\babstract\b)");
        const std::string indent = type->name == stem_of(interface.file) ? "    " : "        ";
        auto place = type->close;
        while (place > type->open + 1 && (text[place - 1] == ' ' || text[place - 1] == '\t')) { --place; }
        if (type->kind == "enum" && end_of_constants(code, *type) == std::string::npos) {
            auto end = place;
            while (end > type->open + 1 && (text[end - 1] == ' ' || text[end - 1] == '\n')) { --end; }
            text.insert(end, ";");
            ++place;
        }
        const bool fresh = text[place - 1] == '\n';
        const bool empty = place >= 2 && fresh && text[place - 2] == '{';
        text.insert(place, std::string(fresh ? "" : "\n") + (empty ? "" : "\n") + indent +
                               (has_body ? function_text(signature, name, indent) : signature + ";") + "\n");
    }

    /// Java: true if the main type of a file is an interface: its methods are neither static nor have bodies.
    [[nodiscard]] bool is_interface(const std::string& path) {
        const auto types = java_types(read_code(content(path), bracket_rules()).code);
        return std::any_of(types.begin(), types.end(),
                           [&](const TypeRange& each) { return each.kind == "interface" && each.name == stem_of(path); });
    }

    /// Returns the type that a method belongs to, or empty.
    [[nodiscard]] std::string owner_of(const std::string& name, const std::string& signature) const {
        std::string owner;
        if (kind_.name == "go") {
            RE2::PartialMatch(signature, R"(^func\s+\(\s*(?:\w+\s+)?\*?\s*(\w+))", &owner);
        } else if (kind_.name == "rust") {
            const auto own = name.find_last_of(".:");
            auto before = own == std::string::npos ? std::string{} : name.substr(0, name.find_last_not_of(".:", own) + 1);
            if (const auto generics = before.find('<'); generics != std::string::npos) { before.erase(generics); }
            owner = last_part(before);
            // A module's name is not a type.
            if (!owner.empty() && (owner.front() < 'A' || owner.front() > 'Z')) { owner.clear(); }
        }
        return owner;
    }

    /// Rust: returns the type that has a method of that name, else the only type of the file.
    static std::string likely_owner(const std::string& text, const std::string& name) {
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

    /// Rust: true if a position is inside an `impl` of the type.
    static bool in_impl(const std::string& code, std::size_t place, const std::string& owner) {
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

    /// Finds the function. If callers would notice a difference in its signature, changes it to the requested one.
    Known change(std::string& text, const std::string& name, const std::string& owner, const std::string& signature) const {
        const auto code = read_code(text, bracket_rules()).code;
        const RE2 head(with_name(kind_.head, name));
        const auto open_of = [&](const std::string& whole) {
            RE2 own(with_name(kind_.head, name));
            re2::StringPiece found;
            return own.Match(whole, 0, whole.size(), RE2::UNANCHORED, &found, 1)
                       ? static_cast<std::size_t>(found.data() - whole.data()) + found.size() - 1
                       : std::string::npos;
        };
        const auto wanted_open = open_of(signature);
        if (wanted_open == std::string::npos) { return Known::no; }
        const auto wanted = read_head(kind_.name, signature, wanted_open);
        re2::StringPiece parts[2];
        for (std::size_t at = 0; at < code.size() && head.Match(code, at, code.size(), RE2::UNANCHORED, parts, 2);) {
            const auto begin = static_cast<std::size_t>(parts[0].data() - code.data());
            const auto parameters = begin + parts[0].size() - 1;
            at = parameters;
            if (kind_.name == "java" && RE2::PartialMatch(parts[0], R"(\b(?:new|return|throw|else)\s)")) { continue; }
            if (kind_.name == "go") {
                std::string type;
                if (parts[1].data() != nullptr) { RE2::PartialMatch(parts[1], R"(\(\s*(?:\w+\s+)?\*?\s*(\w+))", &type); }
                if (type != owner) { continue; }
            }
            if (kind_.name == "rust" && !in_impl(code, begin, owner)) { continue; }
            const auto close = closing_bracket(code, parameters);
            if (close == std::string::npos) { return Known::no; }
            auto open = code.find('{', close);
            while (open != std::string::npos &&
                   RE2::PartialMatch(re2::StringPiece(code.data() + close, open - close), R"(\b(?:interface|struct)\s*$)")) {
                open = code.find('{', closing_bracket(code, open));
            }
            // Declared only, without a body.
            if (const auto end = code.find(';', close); open == std::string::npos || end < open) { return Known::as_wanted; }
            const auto end = closing_bracket(code, open);
            if (end == std::string::npos) { return Known::as_wanted; }
            const auto have = read_head(kind_.name, std::string_view(code).substr(begin, open - begin), parameters - begin);
            if (have.parameters.types == wanted.parameters.types && have.result == wanted.result) { return Known::as_wanted; }
            // An overload of the same name.
            if (kind_.name == "java" && have.parameters.types != wanted.parameters.types) { continue; }
            replace(text, code, begin, open, end, have, wanted, name, signature);
            return Known::changed;
        }
        return Known::no;
    }

    /// Keeps the body if the result type is the same and the body uses no removed parameter.
    void replace(std::string& text, const std::string& code, std::size_t begin, std::size_t open, std::size_t end,
                 const Head& have, const Head& wanted, const std::string& name, std::string signature) const {
        auto first = begin;
        while (first < open && (text[first] == ' ' || text[first] == '\t' || text[first] == '\n')) { ++first; }
        static const RE2 visibility(R"(^(pub(?:\([a-z ]+\))?\s+))");
        std::string pub;
        if (RE2::PartialMatch(text.substr(first, open - first), visibility, &pub) && !RE2::PartialMatch(signature, visibility)) {
            signature = pub + signature;
        }
        static const RE2 stub(
            R"((?s)\s*(?:panic\(.*\)|(?:todo|unimplemented|panic)!\(.*\);?|throw\b[^;]*;|return(?:\s+(?:nil|null|0|""|true|false|-1))?\s*;?|)\s*)");
        const bool keeps = have.result == wanted.result &&
                           !RE2::FullMatch(re2::StringPiece(code.data() + open + 1, end - open - 1), stub) &&
                           std::all_of(have.parameters.names.begin(), have.parameters.names.end(), [&](const std::string& each) {
                               return std::find(wanted.parameters.names.begin(), wanted.parameters.names.end(), each) !=
                                      wanted.parameters.names.end();
                           });
        if (keeps) {
            text.replace(first, open - first, signature + " ");
            return;
        }
        auto line = first;
        while (line > 0 && text[line - 1] != '\n') { --line; }
        text.replace(first, end + 1 - first, function_text(signature, name, text.substr(line, first - line)));
    }

    /// The first line has no indentation, and the last has no line end.
    [[nodiscard]] std::string function_text(const std::string& signature, const std::string& name,
                                            const std::string& indent) const {
        if (kind_.name == "go") { return signature + " {\n\tpanic(\"" + marker_ + " " + name + "\")\n}"; }
        if (kind_.name == "rust") {
            const std::string value = value_of_opaque_type(signature);
            const std::string panics = "todo!(\"" + marker_ + " " + name + "\")";
            return signature + " {\n" + indent + "    " +
                   (value.empty()
                        ? panics
                        : "if true {\n" + indent + "        " + panics + "\n" + indent + "    }\n" + indent + "    " + value) +
                   "\n" + indent + "}";
        }
        return signature + " {\n" + indent + "    throw new UnsupportedOperationException(\"" + marker_ + " " + name + "\");\n" +
               indent + "}";
    }

    void write_function(const SkeletonInterface& interface, std::string& text, const std::string& name, const std::string& owner,
                        const std::string& signature) {
        const auto& path = interface.file;
        if (kind_.name == "java") { return write_java_method(interface, text, name, signature); }
        if (kind_.name == "go" && !owner.empty() && !is_named(path, owner)) { declare_receiver(path, owner, signature); }
        if (kind_.name != "rust" || owner.empty()) { return write(text, function_text(signature, name, "") + "\n"); }
        if (write_in_trait(text, name, owner, signature)) { return; }
        write_in_impl(path, text, owner, "    " + function_text(signature, name, "    ") + "\n");
    }
    /// Go: declares the type of a method if nothing does: `type Cache[K any, V any] struct{}` for `(c *Cache[K, V])`.
    void declare_receiver(const std::string& path, const std::string& owner, const std::string& signature) {
        std::string list;
        RE2::PartialMatch(signature, R"(^func\s+\([^)\[]*\[([^\]]*)\])", &list);
        std::string parameters;
        for (const auto& each : split_list(list)) { parameters += (parameters.empty() ? "" : ", ") + each + " any"; }
        declare_type(path, owner, "type " + owner + (parameters.empty() ? "" : "[" + parameters + "]") + " struct{}");
    }

    /// True if this writer started the block, so further methods can be added to it.
    [[nodiscard]] bool is_ours(const std::string& path, const std::string& block) const { return ours_.contains(path + block); }

    /// Imports the standard library packages that a declaration names and its file does not import.
    void import_what_is_named(std::string& text, const std::string& signature) const {
        if (kind_.name == "go") {
            static const RE2 qualified(R"(\b([a-z]\w*)\.[A-Z])");
            re2::StringPiece rest(signature);
            std::set<std::string> words;
            for (std::string word; RE2::FindAndConsume(&rest, qualified, &word);) { words.insert(word); }
            for (const auto& word : words) { import_go(text, word); }
        } else if (kind_.name == "rust") {
            import_rust(text, signature);
        } else if (kind_.name == "java") {
            std::string lines;
            for (const auto& [package, words] : java_packages) {
                for (auto rest = words; !rest.empty();) {
                    const auto end = std::min(rest.find(' '), rest.size());
                    const std::string word(rest.substr(0, end));
                    rest.remove_prefix(std::min(rest.size(), end + 1));
                    if (!RE2::PartialMatch(signature, R"((?:^|[^\w.]))" + word + R"(\b)") ||
                        RE2::PartialMatch(text, R"((?m)^import\s+[\w.]+\.)" + word + R"(\s*;)") ||
                        text.find("import " + std::string(package) + ".*;") != std::string::npos) {
                        continue;
                    }
                    lines += "import " + std::string(package) + "." + word + ";\n";
                }
            }
            if (lines.empty()) { return; }
            std::string package;
            const auto place =
                RE2::PartialMatch(text, R"((?m)^(package\s+[^;]+;[^\n]*\n))", &package) ? text.find(package) + package.size() : 0;
            text.insert(place, (place > 0 ? "\n" : "") + lines + (place > 0 || text.starts_with("import") ? "" : "\n"));
        }
    }

    /// Rust: adds `use std::time::Duration;` if a signature names it and nothing declares it.
    void import_rust(std::string& text, const std::string& signature) const {
        auto plain = signature;
        static const RE2 attribute(R"(#\[[^\]]*\])");
        RE2::GlobalReplace(&plain, attribute, "");
        for (const auto& [module, words] : rust_modules) {
            for (auto rest = words; !rest.empty();) {
                const auto end = std::min(rest.find(' '), rest.size());
                const std::string word(rest.substr(0, end));
                rest.remove_prefix(std::min(rest.size(), end + 1));
                const bool is_module = module == "std";
                if (!RE2::PartialMatch(plain, R"((?:^|[^\w:'.]))" + word + (is_module ? "::" : R"((?:[^\w:]|$))")) ||
                    declared_types_.contains(word) || RE2::PartialMatch(text, with_name(kind_.named, word)) ||
                    RE2::PartialMatch(text, R"((?m)^\s*(?:pub\s+)?use\b[^;]*\b)" + word + R"(\s*(?:[;,}]|\bas\b))") ||
                    text.find("use " + std::string(module) + "::*") != std::string::npos) {
                    continue;
                }
                insert_use(text, std::string(module) + "::" + word);
            }
        }
    }

    /// Rust: adds a `use` below the comments and attributes of the file itself.
    static void insert_use(std::string& text, const std::string& path) {
        // Not the documentation of what follows.
        static const RE2 head(R"((?:(?:[ \t]*(?://(?:[^/\n][^\n]*)?|#!\[[^\n]*))?\n)*)");
        re2::StringPiece rest(text);
        const bool says = text.starts_with("//!") || text.starts_with("#![");
        if (says) { RE2::Consume(&rest, head); }
        text.insert(static_cast<std::size_t>(rest.data() - text.data()), "use " + path + ";\n");
    }

    /// Rust: adds `use crate::account::NotEnough;` if another file of the crate declares what a signature names.
    void use_types_of_others(const std::string& path, const std::string& signature) {
        for (const auto& [name, file] : declared_types_) {
            auto& text = content(path);
            const bool named = RE2::PartialMatch(signature, R"((?:^|[^\w:]))" + name + R"(\b)");
            if (!named || file == path || crate_of(file) != crate_of(path) ||
                RE2::PartialMatch(text, R"((?m)^\s*(?:pub\s+)?use\b[^;]*\b)" + name + R"(\b)") || is_named(path, name)) {
                continue;
            }
            insert_use(text, "crate" + module_path(file) + "::" + name);
        }
    }
    /// Returns the folder of a crate's sources: `crates/a/src`.
    static std::string crate_of(const std::string& path) {
        const auto sources = path.starts_with("src/") ? 0 : path.rfind("/src/");
        return sources == std::string::npos ? std::string() : path.substr(0, sources + (path.starts_with("src/") ? 3 : 4));
    }
    /// Returns `::bank::account` for `src/bank/account.rs`. Empty for the crate's root.
    static std::string module_path(const std::string& path) {
        auto inside = path.substr(std::min(path.size(), crate_of(path).size() + 1));
        inside = inside.substr(0, inside.rfind('.'));
        if (inside == "lib" || inside == "main") { return {}; }
        if (inside.ends_with("/mod")) { inside.resize(inside.size() - 4); }
        for (auto at = inside.find('/'); at != std::string::npos; at = inside.find('/', at)) { inside.replace(at, 1, "::"); }
        return "::" + inside;
    }

    void import_go(std::string& text, const std::string& word) const {
        const std::string imported =
            R"re((?m)^\s*(?:import\s+)?(?:)re" + word + R"re(\s+"[^"\n]+"|"(?:[^"\n]*/)?)re" + word + R"re((?:/v\d+)?")\s*$)re";
        if (RE2::PartialMatch(text, imported)) { return; }
        const auto path = go_path(word);
        std::string package;
        if (path.empty() || !RE2::PartialMatch(text, R"((?m)^(package\s+\w+[^\n]*\n))", &package)) { return; }
        text.insert(text.find(package) + package.size(), "\nimport \"" + path + "\"\n");
    }

    /// Returns the import path of the module's package with this folder name, else of the standard library's. Empty: neither.
    [[nodiscard]] std::string go_path(const std::string& word) const {
        std::string module;
        const auto go_mod = contents_.find("go.mod");
        if (go_mod != contents_.end()) { RE2::PartialMatch(go_mod->second, R"((?m)^module\s+(\S+))", &module); }
        for (const auto& file : existing_) {
            const auto folder = folder_path(file);
            if (!module.empty() && file.ends_with(".go") && !file.ends_with("_test.go") &&
                (folder == word || folder.ends_with("/" + word))) {
                return module + "/" + folder;
            }
        }
        for (const auto& [name, path] : go_packages) {
            if (name == word) { return std::string(path); }
        }
        return {};
    }

    void write(std::string& text, const std::string& declaration) const {
        if (kind_.name != "java") {
            if (!text.empty() && !text.ends_with('\n')) { text += '\n'; }
            text += (text.empty() ? "" : "\n") + declaration;
            return;
        }
        const auto end = text.rfind('}');
        text.insert(end == std::string::npos ? text.size() : end, (text.ends_with("{\n}\n") ? "" : "\n") + declaration);
    }

    static std::string package_line(const std::string& path) {
        auto package = folder_path(path);
        const auto java = package.rfind("java/");
        package = java == std::string::npos ? std::string{} : package.substr(java + 5);
        std::replace(package.begin(), package.end(), '/', '.');
        return package.empty() ? "" : "package " + package + ";\n\n";
    }

    std::string& content(const std::string& path) {
        if (const auto known = files_.find(path); known != files_.end()) { return known->second; }
        if (const auto before = contents_.find(path); before != contents_.end()) {
            return files_.emplace(path, before->second).first->second;
        }
        std::string head;
        if (kind_.name == "go") { head = "package " + go_package(path) + "\n"; }
        if (kind_.name == "java") { head = package_line(path) + "public class " + stem_of(path) + " {\n}\n"; }
        if (kind_.name == "rust") { declare_module(path); }
        return files_.emplace(path, std::move(head)).first->second;
    }

    [[nodiscard]] std::string go_package(const std::string& path) const {
        const auto folder = folder_path(path);
        for (const auto& [other, text] : contents_) {
            std::string package;
            if (folder_path(other) == folder && other.ends_with(".go") && !other.ends_with("_test.go") &&
                RE2::PartialMatch(text, R"((?m)^package\s+(\w+))", &package)) {
                return package;
            }
        }
        auto name = folder.substr(folder.rfind('/') == std::string::npos ? 0 : folder.rfind('/') + 1);
        if (name.empty()) {
            // In the top folder, the package has the name of the module's last part, as its tests expect.
            const auto module = contents_.find("go.mod");
            if (module != contents_.end()) {
                RE2::PartialMatch(module->second, R"((?m)^module\s+(?:\S*/)?([A-Za-z]\w*)\s*$)", &name);
            }
        }
        std::erase_if(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_'; });
        return name.empty() ? "main" : name;
    }

    /// Declares the file's module in its parent, so that it belongs to the crate.
    void declare_module(const std::string& path) {
        const auto folder = folder_path(path);
        const auto module = stem_of(path);
        if (module == "lib" || module == "main" || module == "mod") { return; }
        for (const auto* parent : {"lib.rs", "main.rs", "mod.rs"}) {
            const auto file = folder.empty() ? std::string(parent) : folder + "/" + parent;
            if (!files_.contains(file) && !contents_.contains(file)) { continue; }
            auto& text = content(file);
            if (!RE2::PartialMatch(text, R"((?m)^\s*(?:pub(?:\([a-z ]+\))?\s+)?mod\s+)" + module + R"(\b)")) {
                static const RE2 head(R"((?:(?:[ \t]*(?://(?:[^/\n][^\n]*)?|#!\[[^\n]*))?\n)*)");
                re2::StringPiece rest(text);
                RE2::Consume(&rest, head);  // Comments and attributes of the file itself stay at the top.
                const bool says = text.starts_with("//!") || text.starts_with("#![");
                text.insert(says ? static_cast<std::size_t>(rest.data() - text.data()) : 0, "pub mod " + module + ";\n");
            }
            return;
        }
    }

    const PlainKind& kind_;
    const std::map<std::string, std::string>& contents_;
    const std::vector<std::string>& existing_;
    const std::string& marker_;
    std::map<std::string, std::string> files_;
    std::set<std::string> ours_;
    std::map<std::string, std::string> declared_types_;  ///< Name → file.
    Skeletons result_;
};

const PlainKind* find_plain(std::string_view kind) {
    const auto found =
        std::find_if(std::begin(plain_kinds), std::end(plain_kinds), [&](const PlainKind& each) { return each.name == kind; });
    return found == std::end(plain_kinds) ? nullptr : found;
}

}  // namespace

std::string without_unused_code(std::string_view kind, const std::string& text) {
    return kind == "go" ? without_unused_imports(text) : text;
}

bool is_plain_skeleton(std::string_view kind) { return find_plain(kind) != nullptr; }

Skeletons write_plain_skeletons(std::string_view kind, const std::vector<SkeletonInterface>& interfaces,
                                const std::map<std::string, std::string>& contents, const std::vector<std::string>& existing,
                                const std::string& marker) {
    const auto* found = find_plain(kind);
    if (found == nullptr) { return {{}, {"unknown kind of skeleton `" + std::string(kind) + "`"}}; }
    PlainWriter writer(*found, contents, existing, marker);
    writer.register_types(interfaces);
    for (const auto& interface : interfaces) { writer.declare(interface); }
    return writer.take();
}

}  // namespace agentforge::kernel
