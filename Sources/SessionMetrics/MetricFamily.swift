/// A named metric with its samples.
///
/// Names, units and types are those of OpenMetrics: *The OpenMetrics project — Creating a standard for exposing metrics
/// data*, version 1.0, 2020 (<https://prometheus.io/docs/specs/om/open_metrics_spec>).
package struct MetricFamily: Hashable, Sendable {
    /// The types of metrics.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// A count that only increases; it starts at 0 with the process.
        case counter
        /// A value that increases and decreases.
        case gauge
        /// Numbers of values in buckets, with the sum of the values.
        case histogram
        /// Several states, each 0 or 1.
        case stateSet = "stateset"
    }

    /// The base units.
    package enum Unit: String, Hashable, Sendable, CaseIterable {
        /// Seconds.
        case seconds
        /// Metres.
        case meters
        /// Bytes.
        case bytes
        /// A share in [0, 1], or a quotient.
        case ratio
    }

    /// A sample without the name of its family.
    package struct Sample: Hashable, Sendable {
        /// The labels in the order of the output; names are unique.
        package var labels: [Label]
        /// The number, or the buckets of a histogram.
        package var value: Value

        /// Creates a sample.
        package init(_ value: Value, labels: [Label] = []) {
            self.labels = labels
            self.value = value
        }
    }

    /// The label of a sample.
    package struct Label: Hashable, Sendable {
        /// A letter or underscore, followed by letters, digits and underscores.
        package var name: String
        /// Any text.
        package var value: String

        /// Creates a label.
        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The value of a sample.
    package enum Value: Hashable, Sendable {
        /// A number of any family but a histogram.
        case number(Double)
        /// The bounds of a histogram's buckets, the count of each bucket and of the last one without a bound, and the
        /// sum of all values.
        case histogram(bounds: [Double], counts: [Int], sum: Double)
    }

    /// The name, with its unit as the last part, and without the `_total` of a counter's samples.
    package var name: String
    /// The type of the metric.
    package var kind: Kind
    /// The unit; nil for a metric without one, such as a count.
    package var unit: Unit?
    /// The meaning in one sentence.
    package var help: String
    /// The samples; empty while the value is unknown. No two samples have the same labels.
    package var samples: [Sample]

    /// Creates a family.
    ///
    /// - Precondition: `name` consists of lowercase letters, digits and underscores, begins with a letter, and ends in
    ///   the unit.
    package init(_ name: String, _ kind: Kind, unit: Unit? = nil, help: String, samples: [Sample] = []) {
        precondition(Self.isName(name), "invalid name of a metric: \(name)")
        precondition(unit.map { name.hasSuffix("_" + $0.rawValue) } ?? true, "\(name) must end in its unit")
        self.name = name
        self.kind = kind
        self.unit = unit
        self.help = help
        self.samples = samples
    }

    private static func isName(_ name: String) -> Bool {
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard let first = name.utf8.first, letters.contains(first) else { return false }
        return name.utf8.allSatisfy { letters.contains($0) || digits.contains($0) || $0 == UInt8(ascii: "_") }
    }
}

/// A writer of metrics as text.
public struct MetricText: Sendable {
    /// The text formats of metrics.
    public enum Format: String, Hashable, Sendable, CaseIterable {
        /// OpenMetrics 1.0.
        case openMetrics
        /// Version 0.0.4 of the text format of Prometheus, for readers without OpenMetrics. State sets become gauges.
        case prometheus

        /// The media type for HTTP.
        public var mediaType: String {
            switch self {
            case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
            case .prometheus: "text/plain; version=0.0.4; charset=utf-8"
            }
        }
    }

    private let format: Format
    private var text = ""

    private init(_ format: Format) { self.format = format }

    /// Returns the text of metrics. Families without samples have only their description.
    ///
    /// - Precondition: the names of the families are unique.
    package static func text(of families: [MetricFamily], as format: Format = .openMetrics) -> String {
        precondition(Set(families.map(\.name)).count == families.count, "two metrics have the same name")
        var writer = MetricText(format)
        for family in families { writer.write(family) }
        if format == .openMetrics { writer.text += "# EOF\n" }
        return writer.text
    }

    private mutating func write(_ family: MetricFamily) {
        let isOpen = format == .openMetrics
        let sampled = family.kind == .counter ? family.name + "_total" : family.name
        // In the format of Prometheus, a counter has the name of its samples, and there are no units.
        let name = isOpen ? family.name : sampled
        let kind = family.kind == .stateSet && !isOpen ? MetricFamily.Kind.gauge : family.kind
        text += "# TYPE \(name) \(kind.rawValue)\n"
        if isOpen, let unit = family.unit { text += "# UNIT \(name) \(unit.rawValue)\n" }
        text += "# HELP \(name) \(Self.escaped(family.help, quotes: isOpen))\n"
        for sample in family.samples {
            switch sample.value {
            case .number(let number): write(sampled, sample.labels, Self.number(number))
            case .histogram(let bounds, let counts, let sum):
                writeHistogram(family.name, sample.labels, bounds: bounds, counts: counts, sum: sum)
            }
        }
    }

    private mutating func writeHistogram(
        _ name: String, _ labels: [MetricFamily.Label], bounds: [Double], counts: [Int], sum: Double
    ) {
        precondition(counts.count == bounds.count + 1, "\(name): one count more than bounds is required")
        var total = 0
        for (bound, count) in zip(bounds + [.infinity], counts) {
            total += count
            // The bound is always written as a floating-point number, so that both formats give the same series.
            let le = bound.isFinite ? "\(bound)" : "+Inf"
            write(name + "_bucket", labels + [MetricFamily.Label("le", le)], String(total))
        }
        write(name + "_sum", labels, Self.number(sum))
        write(name + "_count", labels, String(total))
    }

    private mutating func write(_ name: String, _ labels: [MetricFamily.Label], _ value: String) {
        text += name
        if !labels.isEmpty {
            let list = labels.map { "\($0.name)=\"\(Self.escaped($0.value, quotes: true))\"" }
            text += "{" + list.joined(separator: ",") + "}"
        }
        text += " \(value)\n"
    }

    /// Returns a number without a fraction if it is whole, as counts are.
    private static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        // Larger numbers have no exact whole part.
        return Int(exactly: value).flatMap { abs($0) < 1 << 53 ? String($0) : nil } ?? "\(value)"
    }

    private static func escaped(_ text: String, quotes: Bool) -> String {
        var escaped = ""
        for character in text.unicodeScalars {
            switch character {
            case "\\": escaped += "\\\\"
            case "\n": escaped += "\\n"
            case "\"" where quotes: escaped += "\\\""
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }
}
