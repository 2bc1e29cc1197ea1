/// An entry of a legend.
struct LegendEntry: Hashable {
    /// The symbol before the name.
    enum Symbol {
        case line, dashedLine, point, square, ring, area
    }

    let name: String
    let symbol: Symbol
    let color: FigureColor
}

/// A legend: entries in rows that fit a width.
struct Legend {
    private let rows: [[LegendEntry]]
    private static let (rowHeight, textSize, symbolWidth, gap) = (20.0, 12.0, 26.0, 18.0)
    /// The height in pixels; 0 without entries.
    var height: Double { Double(rows.count) * Self.rowHeight }

    /// Creates the legend of entries; lists equal entries once.
    init(_ entries: [LegendEntry], width: Double) {
        var rows: [[LegendEntry]] = []
        var seen: Set<LegendEntry> = []
        var used = 0.0
        for entry in entries where seen.insert(entry).inserted {
            let needed = Self.width(of: entry, limit: width)
            if rows.isEmpty || used + needed > width {
                rows.append([])
                used = 0
            }
            rows[rows.count - 1].append(entry)
            used += needed
        }
        self.rows = rows
    }

    private static func width(of entry: LegendEntry, limit: Double) -> Double {
        min(limit, symbolWidth + SVGText.width(entry.name, size: textSize) + gap)
    }

    func draw(x: Double, y: Double, width: Double, _ svg: inout SVGWriter) {
        for (index, row) in rows.enumerated() {
            var left = x
            let middle = y + (Double(index) + 0.5) * Self.rowHeight
            for entry in row {
                Self.draw(entry, x: left, y: middle, &svg)
                let name = SVGText.shortened(entry.name, width: width - Self.symbolWidth, size: Self.textSize)
                svg.label(name, x: left + Self.symbolWidth, y: middle + 4, size: Self.textSize)
                left += Self.width(of: entry, limit: width)
            }
        }
    }

    private static func draw(_ entry: LegendEntry, x: Double, y: Double, _ svg: inout SVGWriter) {
        let style = SVGValue.text(entry.color.style)
        switch entry.symbol {
        case .line, .dashedLine:
            svg.add(
                "path",
                [
                    "class": style, "d": .text("M\(SVGPath.pair(x, y))h20"), "fill": "none",
                    "stroke": "currentColor", "stroke-width": 2,
                    "stroke-dasharray": entry.symbol == .dashedLine ? "5 4" : "none",
                ])
        case .point, .square:
            svg.add(
                "path",
                [
                    "class": style, "d": .text("M\(SVGPath.pair(x + 10, y))h.01"), "fill": "none",
                    "stroke": "currentColor", "stroke-width": 8,
                    "stroke-linecap": entry.symbol == .square ? "square" : "round",
                ])
        case .ring:
            svg.add(
                "circle",
                [
                    "class": style, "cx": .number(x + 10), "cy": .number(y), "r": 6, "fill": "currentColor",
                    "fill-opacity": 0.15, "stroke": "currentColor", "stroke-opacity": 0.6,
                ])
        case .area:
            svg.add(
                "rect",
                [
                    "class": style, "x": .number(x + 2), "y": .number(y - 6), "width": 16, "height": 12,
                    "fill": "currentColor", "fill-opacity": 0.4,
                ])
        }
    }
}

/// A rectangle of a drawing, in pixels.
struct Rectangle: Hashable {
    var x: Double
    var y: Double
    var width: Double
    var height: Double

    var maxX: Double { x + width }
    var maxY: Double { y + height }
    var midX: Double { x + width / 2 }
    var midY: Double { y + height / 2 }
}
