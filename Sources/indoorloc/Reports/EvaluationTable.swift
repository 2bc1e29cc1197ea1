import IndoorLocalization
import IndoorLocalizationTesting

/// The scores of several methods as a table for a paper.
struct EvaluationTable: Sendable {
    /// The form of the output of `evaluate`.
    enum Format: String, CaseIterable, Sendable {
        case text, json, markdown, latex
    }

    /// The scores of a method.
    private struct Row: Sendable {
        var name: String
        var means: TrackScore
        var deviations: TrackScore?
    }

    private static let heads = ["method", "n", "answered", "floor", "mean", "median", "P75", "P90", "P95", "in radius"]

    private var rows: [Row] = []

    var isEmpty: Bool { rows.isEmpty }

    mutating func add(_ name: String, _ means: TrackScore, deviations: TrackScore?) {
        rows.append(Row(name: name, means: means, deviations: deviations))
    }

    /// The cells of a row.
    ///
    /// - Parameters:
    ///   - percent: the percent sign.
    ///   - plusMinus: the sign before a standard deviation.
    private func cells(_ row: Row, percent: String, plusMinus: String) -> [String] {
        func cell(_ figure: KeyPath<TrackScore, Double?>, scale: Double, _ decimals: Int, _ unit: String) -> String {
            guard let value = row.means[keyPath: figure] else { return "–" }
            let text = JSONText.number(value * scale, decimals: decimals)
            guard let deviation = row.deviations?[keyPath: figure] else { return text + unit }
            return text + plusMinus + JSONText.number(deviation * scale, decimals: decimals) + unit
        }
        func share(_ figure: KeyPath<TrackScore, Double?>) -> String { cell(figure, scale: 100, 1, percent) }
        func metres(_ figure: KeyPath<TrackScore, Double?>) -> String { cell(figure, scale: 1, 2, "") }
        return [
            row.name, String(row.means.count), share(\.answered), share(\.floor), metres(\.mean), metres(\.median),
            metres(\.p75), metres(\.p90), metres(\.p95), share(\.insideRadius),
        ]
    }

    /// A table in Markdown.
    var markdown: String {
        func line(_ cells: [String]) -> String { "| " + cells.joined(separator: " | ") + " |\n" }
        let body = rows.map { row in
            line(cells(row, percent: " %", plusMinus: " ± ").map { $0.replacing("|", with: "\\|") })
        }
        return line(Self.heads) + line(["---"] + Self.heads.dropFirst().map { _ in "---:" }) + body.joined()
    }

    /// A table in LaTeX, which needs no package.
    ///
    /// - Parameter comment: a line before it.
    func latex(comment: String) -> String {
        func escaped(_ text: String) -> String {
            text.map { character in
                switch character {
                case "\\": "\\textbackslash{}"
                case "_", "&", "#", "%", "$", "{", "}": "\\\(character)"
                case "~": "\\textasciitilde{}"
                case "^": "\\textasciicircum{}"
                case "–": "--"
                default: String(character)
                }
            }.joined()
        }
        func line(_ cells: [String]) -> String { cells.joined(separator: " & ") + " \\\\\n" }
        let body = rows.map { row in
            let cells = cells(row, percent: "\\,\\%", plusMinus: " $\\pm$ ")
            return line(cells.enumerated().map { $0 == 0 || $1 == "–" ? escaped($1) : $1 })
        }
        return "% \(comment)\n\\begin{tabular}{l\(String(repeating: "r", count: Self.heads.count - 1))}\n\\hline\n"
            + line(Self.heads) + "\\hline\n" + body.joined() + "\\hline\n\\end{tabular}\n"
    }
}
