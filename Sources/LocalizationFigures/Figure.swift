/// A part of a figure.
package enum FigurePanel: Sendable {
    /// A chart.
    case chart(Chart)
    /// A plan with layers over it.
    case plan(PlanView)

    fileprivate var legend: [LegendEntry] {
        switch self {
        case .chart(let chart): chart.legend
        case .plan(let plan): plan.legend
        }
    }

    /// Returns the height in pixels of the panel with a width.
    fileprivate func height(width: Double) -> Double {
        switch self {
        case .chart(let chart): max(200, width * chart.aspect)
        case .plan(let plan): PlanDrawing.height(of: plan, width: width)
        }
    }

    fileprivate func draw(in frame: Rectangle, _ svg: inout SVGWriter) {
        switch self {
        case .chart(let chart): ChartDrawing(chart, frame: frame).draw(&svg)
        case .plan(let plan): PlanDrawing(plan, frame: frame).draw(&svg)
        }
    }
}

/// The width for which a figure is laid out.
package enum FigureLayout: Hashable, Sendable, CaseIterable {
    /// A page: the panels are beside each other where there are several.
    case wide
    /// A telephone: the panels are below each other.
    case narrow

    /// Returns the number of panels in a row.
    func columns(_ columns: Int) -> Int { self == .wide ? columns : 1 }

    /// Returns the width in pixels of a figure with so many panels in a row on a page.
    package func width(columns: Int) -> Double { self == .narrow ? 380 : columns > 1 ? 1100 : 800 }
}

/// A figure as an SVG document: a title, a legend, charts and plans, and a caption.
///
/// The same content gives the same bytes on every machine. The document has no script, no external resource and no
/// identifier, so that a page can contain several figures. Its colours follow the reader's light or dark scheme.
package struct Figure: Hashable, Sendable {
    /// The document.
    package let svg: String
    /// The width in pixels.
    package let width: Double
    /// The height in pixels.
    package let height: Double

    /// The space around and between the parts in pixels.
    private static let (margin, gap) = (16.0, 18.0)
    /// The sizes of the title and of the caption in pixels.
    private static let (titleSize, captionSize) = (16.0, 12.0)
    private static let captionLine = 17.0

    /// Creates a figure.
    ///
    /// - Parameters:
    ///   - title: the title; it is also the figure's name for screen readers.
    ///   - description: the content in words, for screen readers.
    ///   - caption: paragraphs below the panels.
    ///   - panels: the panels, row by row.
    ///   - columns: the number of panels in a row, at least 1.
    ///   - width: the width in pixels, at least 200.
    package init(
        title: String, description: String, caption: [String] = [], panels: [FigurePanel], columns: Int = 1,
        width: Double = 800
    ) {
        let width = max(200, width)
        let inner = width - 2 * Self.margin
        let columns = max(1, columns)
        let column = (inner - Double(columns - 1) * Self.gap) / Double(columns)
        let titles = SVGText.lines(title, width: inner, size: Self.titleSize)
        let legend = Legend(panels.flatMap(\.legend), width: inner)
        let captions = caption.flatMap { SVGText.lines($0, width: inner, size: Self.captionSize) }
        var body = SVGWriter()
        var y = Self.margin
        for line in titles {
            body.label(line, x: Self.margin, y: y + 14, style: "f-text f-title", size: Self.titleSize)
            y += 21
        }
        if !titles.isEmpty { y += 4 }
        legend.draw(x: Self.margin, y: y, width: inner, &body)
        if legend.height > 0 { y += legend.height + 6 }
        var rest = panels[...]
        while !rest.isEmpty {
            let row = rest.prefix(columns)
            rest = rest.dropFirst(columns)
            let height = row.map { $0.height(width: column) }.max() ?? 0
            for (index, panel) in row.enumerated() {
                let x = Self.margin + Double(index) * (column + Self.gap)
                let frame = Rectangle(x: x, y: y, width: column, height: height)
                panel.draw(in: frame, &body)
            }
            y += height + (rest.isEmpty ? 6 : Self.gap)
        }
        for line in captions {
            body.label(line, x: Self.margin, y: y + 12, style: "f-soft", size: Self.captionSize)
            y += Self.captionLine
        }
        self.width = width
        height = (y + Self.margin).rounded(.up)
        svg = Self.document(title, description, width: width, height: height, body: body.text)
    }

    private static func document(
        _ title: String, _ description: String, width: Double, height: Double, body: String
    ) -> String {
        let size = "\(SVGText.number(width)) \(SVGText.number(height))"
        var svg = SVGWriter()
        svg.group(
            "svg",
            [
                "xmlns": "http://www.w3.org/2000/svg", "width": .number(width), "height": .number(height),
                "viewBox": .text("0 0 " + size), "role": "img", "font-family": "sans-serif", "font-size": 12,
                "style": "max-width:100%;height:auto",
            ]
        ) { svg in
            svg.add("title", content: title)
            svg.add("desc", content: description)
            svg.add("style", verbatim: FigureStyle.sheet)
            svg.add("rect", ["class": "f-page", "width": .number(width), "height": .number(height)])
            svg.append(body)
        }
        return svg.text
    }
}
