import IndoorVocabulary

/// Values on a grid of square cells of a map.
public struct HeatMap: Sendable {
    /// The quantity, such as "Expected RSSI".
    package var title: String
    /// The unit, such as "dBm"; nil for a quantity without one.
    package var unit: String?
    /// The corner of the first cell with the smallest coordinates.
    package var origin: MapPoint
    /// The edge of a cell in metres, above 0.
    package var cellSize: Double
    /// The number of cells along x, at least 1.
    package var columns: Int
    /// The values, row by row from the top; NaN where there is none.
    package var values: [Double]
    /// The range of the scale; nil for that of the values. Values outside have the colour of the nearest end.
    package var range: ClosedRange<Double>?
    /// Whether low values have the light colours.
    package var isReversed: Bool

    /// The number of colours: about as many as a reader can distinguish in the legend.
    static let levels = 20

    /// Creates a heat map. Values beyond the last whole row are ignored.
    public init(
        title: String, unit: String? = nil, origin: MapPoint, cellSize: Double, columns: Int, values: [Double],
        range: ClosedRange<Double>? = nil, isReversed: Bool = false
    ) {
        self.title = title
        self.unit = unit
        self.origin = origin
        self.cellSize = cellSize
        self.columns = max(1, columns)
        self.values = values
        self.range = range
        self.isReversed = isReversed
    }

    /// The number of whole rows.
    var rows: Int { values.count / columns }

    /// The title with the unit.
    var label: String { unit.map { "\(title) (\($0))" } ?? title }

    /// The scale of the legend, which ends with the range.
    var scale: AxisScale {
        let finite = values.filter(\.isFinite)
        let data = range ?? (finite.min() ?? 0)...(finite.max() ?? 1)
        return AxisScale(data, count: 6, isTight: true)
    }

    /// Returns the level of a value, from 0; nil for NaN.
    func level(of value: Double, _ scale: AxisScale) -> Int? {
        guard !value.isNaN else { return nil }
        let share = min(max(scale.share(value), 0), 1)
        return min(Int(share * Double(Self.levels)), Self.levels - 1)
    }

    /// Returns the colour of a level as hexadecimal digits.
    func hex(_ level: Int) -> String {
        let share = (Double(level) + 0.5) / Double(Self.levels)
        return ColorScale.hex(isReversed ? 1 - share : share)
    }

    /// Draws the cells; `pixel` transforms a point of the map.
    func draw(_ svg: inout SVGWriter, pixel: (MapPoint) -> (x: Double, y: Double)) {
        let scale = scale
        var paths = [SVGPath](repeating: SVGPath(), count: Self.levels)
        for row in 0..<rows {
            var column = 0
            while column < columns {
                let start = column
                let level = level(of: values[row * columns + column], scale)
                // Equal neighbours in a row are one rectangle.
                while column < columns, self.level(of: values[row * columns + column], scale) == level { column += 1 }
                guard let level else { continue }
                let (left, top) = pixel(corner(start, row))
                let (right, bottom) = pixel(corner(column, row + 1))
                // Rectangles overlap slightly, so that rounded edges leave no gap.
                paths[level].rectangle(x: left, y: top, width: right - left + 0.05, height: bottom - top + 0.05)
            }
        }
        for (level, path) in paths.enumerated() where !path.isEmpty {
            svg.add(
                "path",
                ["d": .text(path.data), "fill": .text("#" + hex(level)), "shape-rendering": "crispEdges"])
        }
    }

    private func corner(_ column: Int, _ row: Int) -> MapPoint {
        MapPoint(x: origin.x + Double(column) * cellSize, y: origin.y + Double(row) * cellSize)
    }

    /// The width of the legend in pixels.
    static let legendWidth = 74.0

    /// Draws the legend: a bar of the colours with ticks.
    func drawLegend(in frame: Rectangle, _ svg: inout SVGWriter) {
        let scale = scale
        let height = min(frame.height, 260)
        let step = height / Double(Self.levels)
        for level in 0..<Self.levels {
            let y = frame.y + height - Double(level + 1) * step
            svg.add(
                "rect",
                [
                    "x": .number(frame.x + 20), "y": .number(y), "width": 14, "height": .number(step + 0.3),
                    "fill": .text("#" + hex(level)), "shape-rendering": "crispEdges",
                ])
        }
        for (tick, label) in zip(scale.ticks, scale.labels) {
            let y = frame.y + height * (1 - scale.share(tick))
            svg.add("path", ["class": "f-axis", "d": .text("M\(SVGPath.pair(frame.x + 34, y))h4")])
            svg.label(label, x: frame.x + 41, y: y + 4, style: "f-soft", size: 11)
        }
        let turn = "rotate(-90 \(SVGPath.pair(frame.x + 13, frame.y + height / 2)))"
        let name = SVGText.shortened(label, width: height, size: 12)
        svg.group("g", ["transform": .text(turn)]) { svg in
            svg.label(name, x: frame.x + 13, y: frame.y + height / 2, anchor: .middle)
        }
    }
}
