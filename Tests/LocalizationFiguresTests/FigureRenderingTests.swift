import Foundation
import IndoorVocabulary
import LocalizationFigures
import XCTest

/// Renders figures with `rsvg-convert` and compares pixels.
final class FigureRenderingTests: XCTestCase {
    private func figure(_ panels: FigurePanel..., columns: Int = 1) -> Figure {
        Figure(title: "Figure", description: "A figure of a test.", panels: panels, columns: columns)
    }

    func testTheRenderedImageHasTheSizeOfTheFigure() throws {
        let figure = figure(.chart(SmallFigures.chart), .plan(SmallFigures.plan()), columns: 2)
        let image = try RenderedFigure(figure.svg)
        XCTAssertEqual(image.width, Int(figure.width))
        XCTAssertEqual(image.height, Int(figure.height))
        XCTAssertEqual(image.hex(x: 2, y: 2), "ffffff", "the page is white")
    }

    func testADataPointHasTheColourOfItsSeriesAtItsPlaceOnTheAxes() throws {
        let figure = figure(.chart(SmallFigures.chart))
        let image = try RenderedFigure(figure.svg)
        for (x, y, color) in [("10", "2", FigureColor.vermilion), ("16", "6", .vermilion)] {
            let place = try figure.pixel(xTick: x, yTick: y)
            XCTAssertEqual(image.hex(x: place.x, y: place.y), color.lightHex, "\(x), \(y)")
        }
        // The line of 8 - x / 4, whose edges are smoothed.
        let line = try figure.pixel(xTick: "8", yTick: "6")
        let near = (-1...1).map { image.hex(x: line.x, y: line.y + Double($0)) }
        XCTAssertTrue(near.contains(FigureColor.blue.lightHex), "\(near)")
    }

    func testAPointOutsideAGivenRangeIsClipped() throws {
        let points = [ChartPoint(x: 6, y: 6), ChartPoint(x: 6, y: 16), ChartPoint(x: -6, y: 6)]
        let figure = figure(
            .chart(
                Chart(
                    x: ChartAxis("x", range: 0...10), y: ChartAxis("y", range: 0...10),
                    series: [ChartSeries("", .points(points), color: .blue)])))
        let image = try RenderedFigure(figure.svg)
        let colored = image.columns(of: FigureColor.blue.lightHex)
        let place = try figure.pixel(xTick: "6", yTick: "6")
        XCTAssertTrue(colored.allSatisfy { abs(Double($0) - place.x) <= 4 }, "\(colored)")
        XCTAssertFalse(colored.isEmpty)
    }

    func testTheCellsOfAHeatMapHaveTheColoursOfTheScale() throws {
        let figure = figure(.plan(SmallFigures.heatMap()))
        let image = try RenderedFigure(figure.svg)
        let title = try XCTUnwrap(figure.labels.first { $0.text == "Ground floor" })
        // The plan begins 9 pixels below its title's baseline; it is 20 m wide, with 74 pixels for the legend.
        let scale = (figure.width - 32 - 74) / 20
        func color(_ x: Double, _ y: Double) -> String {
            image.hex(x: title.x + x * scale, y: title.y + 9 + y * scale)
        }
        XCTAssertEqual(color(1.25, 1.25), ColorScale.hex(0.975), "the highest value is in the top left cell")
        XCTAssertEqual(color(18.75, 8.75), ColorScale.hex(0.025), "the lowest value is in the bottom right cell")
        XCTAssertEqual(color(3.75, 3.75), "f4f2ec", "a cell without a value shows the floor")
    }

    func testTheLayersOfAPlanLieAtTheirPointsInMetres() throws {
        let figure = figure(.plan(SmallFigures.plan()))
        let image = try RenderedFigure(figure.svg)
        let title = try XCTUnwrap(figure.labels.first { $0.text == "Ground floor" })
        let scale = (figure.width - 32) / 20
        func color(_ x: Double, _ y: Double) -> String {
            image.hex(x: title.x + x * scale, y: title.y + 9 + y * scale)
        }
        XCTAssertEqual(color(2, 2), FigureColor.blue.lightHex, "a beacon")
        XCTAssertEqual(color(16, 8), FigureColor.blue.lightHex, "another beacon")
        XCTAssertEqual(color(8, 9), FigureColor.vermilion.lightHex, "an estimate")
        XCTAssertEqual(color(4, 8), FigureColor.green.lightHex, "the route")
        XCTAssertEqual(color(10, 5), "4a4640", "a wall")
        XCTAssertEqual(color(1, 5), "f4f2ec", "a room")
    }

    func testHostileTextStaysTextOfAWellFormedDocument() throws {
        let hostile = "</text><script>alert('1')</script>\"&<![CDATA[ ]]>\u{0}\u{1b}[2J\u{202e}\u{fffe}\n"
        let series = ChartSeries(hostile, .points([ChartPoint(x: 0, y: 0)]), color: .blue)
        let chart = Chart(
            title: hostile, x: ChartAxis(hostile), y: ChartAxis(hostile, unit: hostile), series: [series])
        let figure = Figure(
            title: hostile, description: hostile, caption: [hostile],
            panels: [.chart(chart), .plan(SmallFigures.plan(roomName: "<b>\"R&D\"</b>"))])
        try RenderedFigure.png(figure.svg)
        XCTAssertFalse(figure.svg.contains("<script"))
        XCTAssertFalse(figure.svg.contains("<b>"))
        XCTAssertTrue(figure.svg.contains("&lt;b&gt;&quot;R&amp;D&quot;&lt;/b&gt;"), "the name of the room is shown")
        let forbidden = figure.svg.unicodeScalars.filter { $0.value < 0x20 && $0 != "\n" || $0.value == 0x202e }
        XCTAssertTrue(forbidden.isEmpty, "\(forbidden)")
    }

    func testAFigureHasATitleAndADescriptionForScreenReaders() {
        let figure = Figure(title: "Errors", description: "Errors of three methods.", panels: [])
        XCTAssertTrue(figure.svg.contains("role=\"img\""))
        XCTAssertTrue(figure.svg.contains("<title>Errors</title>"))
        XCTAssertTrue(figure.svg.contains("<desc>Errors of three methods.</desc>"))
    }

    func testAFigureRefersToNothingOutsideAndHasNoIdentifier() throws {
        let svg = figure(.chart(SmallFigures.chart), .plan(SmallFigures.heatMap())).svg
        for word in ["href", "url(", " id=", "@import", "<script", "<image"] {
            XCTAssertFalse(svg.contains(word), word)
        }
        XCTAssertTrue(svg.contains("@media (prefers-color-scheme:dark)"))
    }

    func testAChartWithoutDataShowsWhy() throws {
        let chart = Chart(
            x: ChartAxis("Time"), y: ChartAxis("Error"),
            series: [ChartSeries("errors", .line([ChartPoint(x: .nan, y: 1)]), color: .blue)],
            emptyText: "no reading of this beacon")
        let figure = figure(.chart(chart))
        XCTAssertTrue(figure.labels.contains { $0.text == "no reading of this beacon" })
        try RenderedFigure.png(figure.svg)
    }

    func testTheDistributionOfErrorsEndsAtItsAxis() throws {
        let errors = (1...99).map(Double.init) + [5000]
        let samples = errors.map { ErrorSample(instant: .zero, error: $0, radius: 1) }
        let figure = Figure.errorDistribution(
            title: "Errors", of: [ErrorSeries(name: "particle", tracks: [.init(name: "walk", samples: samples)])])
        // Programs that don't clip draw what is far outside the axes at a wrong place.
        let paths = figure.svg.matches(of: /(?:d|points)="([^"]*)"/).map(\.output.1)
        let numbers = paths.flatMap { $0.matches(of: /[0-9.]+/).compactMap { Double($0.output) } }
        XCTAssertGreaterThan(numbers.count, 100)
        XCTAssertLessThanOrEqual(try XCTUnwrap(numbers.max()), 800)
    }

    /// The renderers differ in the edges of lines and letters only. A path that one of them doesn't clip would differ.
    func testABrowserDrawsAFigureAsLibrsvgDoes() throws {
        let errors = (1...99).map { Double($0) / 10 } + [5_000_000]
        let samples = errors.map { ErrorSample(instant: .zero, error: $0, radius: 1) }
        // The largest number of squares that letters and edges make different.
        let figures = [
            (
                20,
                Figure.errorDistribution(
                    title: "Errors",
                    of: [ErrorSeries(name: "particle", tracks: [.init(name: "walk", samples: samples)])])
            ),
            (
                110,
                figure(
                    .chart(SmallFigures.chart), .plan(SmallFigures.plan()), .plan(SmallFigures.heatMap()), columns: 2)
            ),
        ]
        for (most, figure) in figures {
            let (size, columns, rows) = (4, Int(figure.width) / 8, Int(figure.height) / 8)
            let library = try RenderedFigure(halving: figure.svg)
                .brightness(ofSquares: size, columns: columns, rows: rows)
            let browser = try RenderedFigure(inBrowserHalving: figure)
                .brightness(ofSquares: size, columns: columns, rows: rows)
            let different = zip(library, browser).enumerated().filter { abs($1.0 - $1.1) > 20 }.map {
                (x: $0.offset % columns * 8, y: $0.offset / columns * 8)
            }
            XCTAssertLessThan(different.count, most, "\(different.prefix(40))")
        }
    }

    func testValuesThatAreNotFiniteOrHugeAreDrawnWithoutFailure() throws {
        let strange = [0, .nan, .infinity, -.infinity, 1e300, -1e300, 1e-300, 3]
        let points = strange.flatMap { x in strange.map { ChartPoint(x: x, y: $0) } }
        let intervals = points.map { ChartSeries.Interval(x: $0.x, lower: $0.y, upper: $0.x) }
        for form in [ChartSeries.Form.line(points), .steps(points), .points(points), .band(intervals)] {
            let chart = Chart(
                x: ChartAxis("x"), y: ChartAxis("y"), series: [ChartSeries("series", form, color: .blue)])
            try RenderedFigure.png(figure(.chart(chart)).svg)
        }
        var plan = SmallFigures.plan()
        plan.layers = [
            PlanLayer("", .path(strange.map { MapPoint(x: $0, y: 1) }), color: .blue),
            PlanLayer("", .circles(strange.map { .init(center: MapPoint(x: 1, y: 1), radius: $0) }), color: .blue),
        ]
        plan.heatMap = HeatMap(
            title: "", origin: MapPoint(x: 0, y: 0), cellSize: 1, columns: 4, values: strange)
        try RenderedFigure.png(figure(.plan(plan)).svg)
    }
}
