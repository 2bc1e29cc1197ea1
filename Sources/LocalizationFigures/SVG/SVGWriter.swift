import IndoorVocabulary
import TextFormats

/// The value of an attribute.
struct SVGValue: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral {
    let text: String

    init(stringLiteral text: String) { self.text = text }
    init(integerLiteral value: Int) { text = String(value) }
    init(floatLiteral value: Double) { text = SVGText.number(value) }

    /// The number with at most two decimals.
    static func number(_ value: Double) -> SVGValue { SVGValue(stringLiteral: SVGText.number(value, decimals: 2)) }
    static func text(_ text: String) -> SVGValue { SVGValue(stringLiteral: text) }
}

/// A writer of SVG elements, one per line. The same calls give the same bytes.
struct SVGWriter {
    /// The elements so far.
    private(set) var text = ""

    typealias Attributes = KeyValuePairs<String, SVGValue>

    /// Writes an element without content.
    mutating func add(_ name: String, _ attributes: Attributes) {
        text += "<\(name)\(Self.text(of: attributes))/>\n"
    }

    /// Writes an element with text as its content.
    mutating func add(_ name: String, _ attributes: Attributes = [:], content: String) {
        text += "<\(name)\(Self.text(of: attributes))>\(SVGText.escaped(content))</\(name)>\n"
    }

    /// Writes an element with content that is not escaped, such as a style sheet.
    mutating func add(_ name: String, verbatim content: String) { text += "<\(name)>\(content)</\(name)>\n" }

    /// Writes the elements of `body` within an element.
    mutating func group(_ name: String = "g", _ attributes: Attributes = [:], _ body: (inout SVGWriter) -> Void) {
        text += "<\(name)\(Self.text(of: attributes))>\n"
        body(&self)
        text += "</\(name)>\n"
    }

    /// Writes a line of text.
    mutating func label(
        _ content: String, x: Double, y: Double, anchor: SVGAnchor = .start, style: String = "f-text",
        size: Double? = nil
    ) {
        let size = size.map { " font-size=\"\(SVGText.number($0))\"" } ?? ""
        let anchor = anchor == .start ? "" : " text-anchor=\"\(anchor.rawValue)\""
        text += "<text class=\"\(style)\" x=\"\(SVGText.number(x))\" y=\"\(SVGText.number(y))\"\(anchor)\(size)>"
        text += SVGText.escaped(content) + "</text>\n"
    }

    /// Writes elements of another writer.
    mutating func append(_ elements: String) { text += elements }

    private static func text(of attributes: Attributes) -> String {
        attributes.map { " \($0)=\"\(SVGText.escaped($1.text))\"" }.joined()
    }
}

/// The part of a text that lies at the given place.
enum SVGAnchor: String {
    case start, middle, end
}

/// The data of a path, in pixels with one decimal.
struct SVGPath {
    private(set) var data = ""
    var isEmpty: Bool { data.isEmpty }

    mutating func move(_ x: Double, _ y: Double) { data += "M\(Self.pair(x, y))" }
    mutating func line(_ x: Double, _ y: Double) { data += "L\(Self.pair(x, y))" }
    mutating func close() { data += "Z" }

    /// Adds a point, which a round or square line cap shows. The line isn't empty, because some renderers show no cap
    /// on an empty line.
    mutating func dot(_ x: Double, _ y: Double) { data += "M\(Self.pair(x, y))h.01" }

    mutating func rectangle(x: Double, y: Double, width: Double, height: Double) {
        let width = SVGText.number(width, decimals: 2)
        data += "M\(SVGText.number(x, decimals: 2)) \(SVGText.number(y, decimals: 2))"
        data += "h\(width)v\(SVGText.number(height, decimals: 2))h-\(width)z"
    }

    static func pair(_ x: Double, _ y: Double) -> String { "\(SVGText.number(x)) \(SVGText.number(y))" }
}

/// Numbers and text as SVG contains them, with the same characters on every machine.
package enum SVGText {
    /// The largest magnitude that is written digit by digit; a larger one is clamped, because no drawing is that large.
    private static let largest = 1e12

    /// Returns the number with at most `decimals` decimals, without trailing zeros; "0" if it is not finite.
    static func number(_ value: Double, decimals: Int = 1) -> String {
        var text = fixed(value, decimals: decimals)
        guard text.contains(".") else { return text }
        while text.hasSuffix("0") { text.removeLast() }
        if text.hasSuffix(".") { text.removeLast() }
        return text
    }

    /// Returns the number with exactly `decimals` decimals, rounded half away from zero; "0" if it is not finite.
    package static func fixed(_ value: Double, decimals: Int) -> String {
        guard value.isFinite else { return "0" }
        return FixedDecimals.text(min(max(value, -largest), largest), decimals) ?? "0"
    }

    /// Returns the number as a reader sees it, with a minus sign instead of a hyphen.
    static func label(_ value: Double, decimals: Int) -> String {
        let text = fixed(value, decimals: decimals)
        return text.hasPrefix("-") ? "\u{2212}" + text.dropFirst() : text
    }

    /// Returns the text with the characters escaped that XML doesn't allow in content or attributes.
    ///
    /// Control characters and noncharacters, which XML 1.0 forbids even when escaped, become U+FFFD. Line breaks become
    /// spaces, as SVG text has one line.
    package static func escaped(_ text: String) -> String { XMLText.escaped(text) }

    /// Returns the approximate width of a text in pixels, on the wide side of common sans-serif fonts.
    static func width(_ text: String, size: Double) -> Double {
        var width = 0.0
        for scalar in text.unicodeScalars {
            switch scalar {
            case "i", "l", "j", "I", ".", ",", ":", ";", "'", "|", "!", " ", "(", ")", "f", "t", "r": width += 0.38
            case "m", "w", "M", "W", "%", "@": width += 0.95
            case "A"..."Z": width += 0.7
            case _ where scalar.value >= 0x1100: width += 1
            default: width += 0.62
            }
        }
        return width * size
    }

    /// The units that stay on the line of their number.
    private static let units: Set<String> = ["m", "cm", "m²", "dB", "dBm", "%", "s", "min", "h", "Hz"]

    /// Returns the words of a text, between which a line can end: neither within "n = 90" nor within "3.5 m".
    private static func words(of text: String) -> [String] {
        var words: [String] = []
        var isJoined = false
        for part in text.split(separator: " ") {
            let bare = String(part.prefix { !".,;:)".contains($0) || $0 == part.first })
            let isUnit = units.contains(bare) && words.last?.last?.isNumber == true
            if isJoined || part == "=" || isUnit, !words.isEmpty {
                words[words.count - 1] += " " + part
            } else {
                words.append(String(part))
            }
            isJoined = part == "="
        }
        return words
    }

    /// Returns the lines of a text that is broken at spaces to fit a width in pixels.
    static func lines(_ text: String, width limit: Double, size: Double) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in words(of: text) {
            let longer = line.isEmpty ? word : line + " " + word
            if !line.isEmpty, width(longer, size: size) > limit {
                lines.append(line)
                line = word
            } else {
                line = longer
            }
        }
        return line.isEmpty ? lines : lines + [line]
    }

    /// Returns the text, shortened with an ellipsis to fit a width in pixels.
    static func shortened(_ text: String, width limit: Double, size: Double) -> String {
        guard width(text, size: size) > limit else { return text }
        var short = text
        while !short.isEmpty, width(short + "…", size: size) > limit { short.removeLast() }
        return short + "…"
    }
}

/// The colour of a series or of a layer of a plan.
///
/// The colours can be distinguished with any kind of colour vision, on white and on black. Source: M. Okabe and K. Ito,
/// *Color Universal Design*, 2008. On a dark background, each colour has a lighter shade.
package enum FigureColor: String, CaseIterable, Sendable {
    /// A colour of the palette.
    case blue, vermilion, green, purple, orange, sky, gray

    /// The colour on a light background, as hexadecimal digits of red, green and blue.
    package var lightHex: String { shades.light }

    /// The light and the dark shade.
    var shades: (light: String, dark: String) {
        switch self {
        case .blue: ("0072b2", "4aa8e0")
        case .vermilion: ("d55e00", "ff8b3d")
        case .green: ("009e73", "2bc79a")
        case .purple: ("b0529a", "e39cc6")
        case .orange: ("c98a00", "f2b632")
        case .sky: ("3aa0d8", "9bd3f5")
        case .gray: ("6e7781", "9da7b1")
        }
    }

    /// The colour for the series with a number from 0; numbers beyond the palette start again.
    package static func series(_ number: Int) -> FigureColor { allCases[number % allCases.count] }

    var style: String { "f-" + rawValue }
}

/// The style sheet of figures: readable on white and, where the reader's system asks for it, on a dark background.
enum FigureStyle {
    /// The style sheet. A renderer without media queries uses the light colours.
    static let sheet: String = {
        let light = rules(
            background: "ffffff", text: "1f2328", soft: "57606a", grid: "e1e5ea", room: "f4f2ec", wall: "4a4640"
        )
        let dark = rules(
            background: "0d1117", text: "e6edf3", soft: "9da7b1", grid: "2a313a", room: "1b2129", wall: "b8b2a7")
        let colors = FigureColor.allCases
        let lightColors = colors.map { ".\($0.style){color:#\($0.shades.light)}" }.joined()
        let darkColors = colors.map { ".\($0.style){color:#\($0.shades.dark)}" }.joined()
        // The images of plans are dark lines on white.
        let plan = ".f-plan{filter:invert(1) hue-rotate(180deg)}"
        return light + lightColors + "@media (prefers-color-scheme:dark){" + dark + darkColors + plan + "}"
    }()

    private static func rules(
        background: String, text: String, soft: String, grid: String, room: String, wall: String
    ) -> String {
        ".f-page{fill:#\(background)}.f-text{fill:#\(text)}.f-soft{fill:#\(soft)}.f-grid{stroke:#\(grid)}"
            + ".f-axis{stroke:#\(soft)}.f-room{fill:#\(room);stroke:#\(grid)}.f-wall{stroke:#\(wall)}"
            + ".f-name{fill:#\(soft);stroke:#\(background);stroke-width:3px;paint-order:stroke;stroke-linejoin:round}"
            + ".f-halo{stroke:#\(background)}.f-tag{stroke-width:3px;paint-order:stroke;stroke-linejoin:round}"
            + ".f-title{font-weight:600}.f-plan{opacity:.4}.f-over{opacity:.5;mix-blend-mode:multiply}"
    }
}
