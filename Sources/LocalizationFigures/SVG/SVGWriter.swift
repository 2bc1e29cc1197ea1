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
