import Foundation
import IndoorLocalizationTesting
import IndoorVocabulary
import LocalizationFigures
import VenueModel
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

    /// A picture of two pixels: black on the left, white on the right.
    private static let picture = PlanPicture(
        Array(
            Data(
                base64Encoded:
                    "iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAAAAADRSSBWAAAAC0lEQVR42mNg+A8AAQIBANEay48AAAAASUVORK5CYII=")
                ?? Data()), mediaType: "image/png")

    func testThePictureOfAPlanLiesBelowItsLayersAndOverAHeatMap() throws {
        var plan = SmallFigures.plan()
        plan.picture = Self.picture
        let figure = figure(.plan(plan))
        let image = try RenderedFigure(figure.svg)
        let title = try XCTUnwrap(figure.labels.first { $0.text == "Ground floor" })
        let scale = (figure.width - 32) / 20
        func brightness(_ x: Double, _ y: Double) -> Int {
            Int(image.hex(x: title.x + x * scale, y: title.y + 9 + y * scale).prefix(2), radix: 16) ?? -1
        }
        XCTAssertLessThan(brightness(1, 9.5), 0xa0, "the left half is dark")
        XCTAssertGreaterThan(brightness(19, 5), 0xe0, "the right half is bright")
        XCTAssertEqual(
            image.hex(x: title.x + 2 * scale, y: title.y + 9 + 2 * scale), FigureColor.blue.lightHex, "a beacon")
        var heat = SmallFigures.heatMap()
        heat.picture = Self.picture
        let shaded = try RenderedFigure(self.figure(.plan(heat)).svg)
        let other = (figure.width - 32 - 74) / 20
        // White lets the colour of the scale through.
        XCTAssertEqual(
            shaded.hex(x: title.x + 18.75 * other, y: title.y + 9 + 8.75 * other), ColorScale.hex(0.025))
        XCTAssertNotEqual(
            shaded.hex(x: title.x + 1.25 * other, y: title.y + 9 + 1.25 * other), ColorScale.hex(0.975))
    }

    func testAPageDefinesAPictureOnceForAllItsFigures() throws {
        let map = MapID(rawValue: 1)
        let (elements, references) = PlanPicture.definitions(of: [map: Self.picture])
        var plan = SmallFigures.plan()
        plan.picture = references[map]
        let figure = figure(.plan(plan))
        XCTAssertEqual(elements.matches(of: /base64/).count, 1)
        XCTAssertFalse(figure.svg.contains("base64"))
        XCTAssertTrue(figure.svg.contains("href=\"#plan-1\""))
        XCTAssertTrue(elements.contains("id=\"plan-1\""))
        XCTAssertEqual(PlanPicture.definitions(of: [:]).elements, "")
    }

    func testALineEndsNeitherInANumberWithItsUnitNorInAnEquation() {
        let figure = Figure(
            title: "", description: "", caption: ["Mean of all values 3.00 m; n = 90 and 12 % of 4.5 dB."], panels: [],
            width: 200)
        let lines = figure.labels.map(\.text)
        XCTAssertGreaterThan(lines.count, 1)
        for part in ["3.00 m;", "n = 90", "12 %", "4.5 dB."] {
            XCTAssertTrue(lines.contains { $0.contains(part) }, "\(part): \(lines)")
        }
    }

    func testTheReferenceLinesOfADistributionAreInTheLegend() {
        let samples = (1...9).map { ErrorSample(instant: .zero, error: Double($0), radius: 1) }
        let series = [ErrorSeries(name: "particle", tracks: [.init(name: "walk", samples: samples)])]
        for layout in FigureLayout.allCases {
            let figure = Figure.errorDistribution(title: "Errors", of: series, layout: layout)
            XCTAssertTrue(figure.labels.contains { $0.text == "50 % and 90 %" })
            XCTAssertEqual(figure.width, layout == .wide ? 800 : 380)
        }
    }

    func testAHeatMapAndLabelsEndWithThePlan() throws {
        var plan = SmallFigures.heatMap()
        // The cells reach to 24 by 12 m, and a beacon lies outside the plan of 20 by 10 m.
        plan.heatMap?.cellSize = 3
        plan.beacons.append(MapPoint(x: 21.5, y: 5))
        plan.layers = [PlanLayer("", .label(MapPoint(x: 0.2, y: 0.1), "corner"), color: .green)]
        let figure = figure(.plan(plan))
        let image = try RenderedFigure(figure.svg)
        let title = try XCTUnwrap(figure.labels.first { $0.text == "Ground floor" })
        let scale = (figure.width - 32 - 74) / 21.5
        XCTAssertEqual(image.hex(x: title.x + 20.5 * scale, y: title.y + 9 + 2 * scale), "ffffff")
        XCTAssertNotEqual(image.hex(x: title.x + 19.7 * scale, y: title.y + 9 + 2 * scale), "ffffff")
        let label = try XCTUnwrap(figure.labels.first { $0.text == "corner" })
        XCTAssertGreaterThanOrEqual(label.y, title.y + 9 + 12)
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
        let errors: [Double] = (1...99).map(Double.init) + [5000]
        let samples = errors.map { ErrorSample(instant: .zero, error: $0, radius: 1) }
        let figure = Figure.errorDistribution(
            title: "Errors", of: [ErrorSeries(name: "particle", tracks: [.init(name: "walk", samples: samples)])])
        // Programs that don't clip draw what is far outside the axes at a wrong place.
        let paths: [Substring] = figure.svg.matches(of: /(?:d|points)="([^"]*)"/).map { $0.output.1 }
        let numbers: [Double] = paths.flatMap { path in path.matches(of: /[0-9.]+/).compactMap { Double($0.output) } }
        XCTAssertGreaterThan(numbers.count, 100)
        XCTAssertLessThanOrEqual(try XCTUnwrap(numbers.max()), 800)
    }

    /// The renderers differ in the edges of lines and letters only. A path that one of them doesn't clip would differ.
    func testABrowserDrawsAFigureAsLibrsvgDoes() throws {
        let errors: [Double] = (1...99).map { Double($0) / 10 } + [5_000_000]
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

/// Compares figures with the files in `Fixtures/figures`; with UPDATE_SNAPSHOTS=1, the tests write the files.
final class FigureSnapshotTests: XCTestCase {
    private func assertSnapshot(_ make: () throws -> Figure, name: String, line: UInt = #line) throws {
        let figure = try make()
        XCTAssertEqual(figure, try make(), "the same input gives different bytes", line: line)
        let folder = URL(filePath: try FixtureFolder(".").path).appending(path: "figures")
        let file = folder.appending(path: name + ".svg")
        if ProcessInfo.processInfo.environment["UPDATE_SNAPSHOTS"] == "1" {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data(figure.svg.utf8).write(to: file)
            return
        }
        let kept = try Data(contentsOf: file)
        // The whole documents aren't printed, as they are long.
        XCTAssertTrue(
            Data(figure.svg.utf8) == kept,
            "differs from \(name).svg; if that is wanted, write it again with UPDATE_SNAPSHOTS=1", line: line)
    }

    func testAChartOfEveryFormHasTheSameBytesAsBefore() throws {
        try assertSnapshot(
            {
                Figure(
                    title: "A chart", description: "Series of every form.", caption: ["The caption."],
                    panels: [.chart(SmallFigures.chart)])
            }, name: "chart")
    }

    func testAPlanWithEveryLayerHasTheSameBytesAsBefore() throws {
        try assertSnapshot(
            {
                Figure(
                    title: "A plan", description: "Layers of every form.", panels: [.plan(SmallFigures.plan())])
            }, name: "plan")
    }

    func testAHeatMapBesideAnEmptyChartHasTheSameBytesAsBefore() throws {
        try assertSnapshot(
            {
                let empty = Chart(x: ChartAxis("Time", unit: "s"), y: ChartAxis("Error", unit: "m"), series: [])
                return Figure(
                    title: "A heat map and an empty chart", description: "Two panels in a row.",
                    panels: [.plan(SmallFigures.heatMap()), .chart(empty)], columns: 2)
            }, name: "heat-map")
    }
}

final class AxisTickTests: XCTestCase {
    /// The labels of the horizontal axis of a chart with two points.
    private func labels(from low: Double, to high: Double) -> [String] {
        let points = [ChartPoint(x: low, y: 0), ChartPoint(x: high, y: 1)]
        let chart = Chart(x: ChartAxis("x"), y: ChartAxis("y"), series: [ChartSeries("", .line(points), color: .blue)])
        let figure = Figure(title: "", description: "", panels: [.chart(chart)])
        return figure.labels.filter { $0.isCentered && !["x", "y"].contains($0.text) }.map(\.text)
    }

    func testTicksAreMultiplesOfOneTwoOrFiveTimesAPowerOfTen() {
        XCTAssertEqual(labels(from: 0, to: 10), (0...10).map(String.init))
        XCTAssertEqual(
            labels(from: 0.31, to: 1.9), ["0.2", "0.4", "0.6", "0.8", "1.0", "1.2", "1.4", "1.6", "1.8", "2.0"])
        XCTAssertEqual(
            labels(from: -95, to: -52), ["−95", "−90", "−85", "−80", "−75", "−70", "−65", "−60", "−55", "−50"])
        XCTAssertEqual(labels(from: 0, to: 3600).first, "0")
        XCTAssertEqual(labels(from: 0, to: 3600).dropFirst().first, "500")
    }

    func testLabelsAreDifferentForRangesOfAllSizes() {
        for exponent in -6...9 {
            let unit = (0..<abs(exponent)).reduce(1.0) { power, _ in exponent < 0 ? power / 10 : power * 10 }
            for start in [-3.7, -1, 0, 0.1, 12] {
                let all = labels(from: start * unit, to: (start + 1.3) * unit)
                XCTAssertEqual(Set(all).count, all.count, "\(all)")
                XCTAssertTrue((3...15).contains(all.count), "\(all)")
            }
        }
    }

    func testARangeOfOneValueIsExtended() {
        // By a tenth of the value, and by 0.5 at least.
        for (value, low, middle, high) in [
            (4.0, "3.5", "4.0", "4.5"), (0, "−0.5", "0.0", "0.5"), (200, "180", "200", "220"),
            (-200, "−220", "−200", "−180"),
        ] {
            let labels = labels(from: value, to: value)
            XCTAssertEqual(labels.first, low, "\(labels)")
            XCTAssertTrue(labels.contains(middle), "\(labels)")
            XCTAssertEqual(labels.last, high, "\(labels)")
        }
    }
}

/// Small inputs of figures.
enum SmallFigures {
    /// A chart with a series of each form.
    static var chart: Chart {
        let xs = (0...20).map(Double.init)
        return Chart(
            title: "Every form", x: ChartAxis("Time", unit: "s"),
            y: ChartAxis("Error", unit: "m", includesZero: true),
            series: [
                ChartSeries("band", .band(xs.map { .init(x: $0, lower: $0 / 10, upper: $0 / 5 + 1) }), color: .sky),
                ChartSeries("bars", .bars([.init(0...2, value: 1), .init(2...4, value: 3)]), color: .gray),
                ChartSeries("line", .line(xs.map { ChartPoint(x: $0, y: 8 - $0 / 4) }), color: .blue),
                ChartSeries("steps", .steps(xs.map { ChartPoint(x: $0, y: $0 / 3) }), color: .green),
                ChartSeries(
                    "reference", .line([ChartPoint(x: 0, y: 7), ChartPoint(x: 20, y: 7)]), color: .purple,
                    isDashed: true),
                ChartSeries("points", .points([ChartPoint(x: 10, y: 2), ChartPoint(x: 16, y: 6)]), color: .vermilion),
            ])
    }

    /// A floor of 20 m by 10 m with two rooms, a wall, a geofence and two beacons.
    static func venue(roomName: String = "Office") -> Venue {
        let map = VenueMap(
            id: MapID(rawValue: 1), name: "Ground floor", level: 0, width: 20, height: 10,
            walls: [[MapPoint(x: 0, y: 0), MapPoint(x: 20, y: 0)], [MapPoint(x: 10, y: 0), MapPoint(x: 10, y: 6)]])
        var venue = Venue(id: VenueID(rawValue: 1), name: "House", maps: [map])
        venue.rooms = [
            Room(
                id: 1, name: roomName, mapID: map.id,
                area: .polygon([
                    MapPoint(x: 0, y: 0), MapPoint(x: 10, y: 0), MapPoint(x: 10, y: 6), MapPoint(x: 0, y: 6),
                ])),
            Room(id: 2, name: "Lab", mapID: map.id, area: .circle(center: MapPoint(x: 15, y: 3), radius: 2)),
        ]
        venue.fences = [
            Fence(id: 1, name: "Door", mapID: map.id, area: .circle(center: MapPoint(x: 18, y: 8), radius: 1))
        ]
        venue.beacons = [MapPoint(x: 2, y: 2), MapPoint(x: 16, y: 8)].enumerated().map { number, point in
            let identity = BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2), major: 1, minor: UInt16(number))
            return VenueBeacon(identity: identity, mapID: map.id, point: point)
        }
        return venue
    }

    /// The plan of the venue with a layer of each form.
    static func plan(roomName: String = "Office") -> PlanView {
        let venue = venue(roomName: roomName)
        let track = [MapPoint(x: 1, y: 8), MapPoint(x: 8, y: 8), MapPoint(x: 12, y: 7), MapPoint(x: 19, y: 7)]
        return PlanView(
            venue: venue, map: venue.maps[0],
            layers: [
                PlanLayer("68 % radius", .circles([.init(center: track[1], radius: 1.5)]), color: .vermilion),
                PlanLayer("route", .path(track), color: .green, size: 4),
                PlanLayer("errors", .segments([.init(track[1], MapPoint(x: 8, y: 9))]), color: .gray),
                PlanLayer("estimates", .points([MapPoint(x: 8, y: 9)]), color: .vermilion, size: 8),
                PlanLayer("", .label(track[0], "start"), color: .green, size: 10),
                PlanLayer("", .label(track[3], "the end"), color: .green, size: 10),
            ])
    }

    /// The plan with a heat map of four rows of eight cells, one of them without a value.
    static func heatMap() -> PlanView {
        let venue = venue()
        let values = (0..<32).map { $0 == 9 ? Double.nan : -60 - Double($0) }
        let heatMap = HeatMap(
            title: "Expected RSSI", unit: "dBm", origin: MapPoint(x: 0, y: 0), cellSize: 2.5, columns: 8,
            values: values)
        return PlanView(venue: venue, map: venue.maps[0], heatMap: heatMap)
    }
}

/// The pixels of a figure as `rsvg-convert` or a browser renders it.
struct RenderedFigure {
    enum Failure: Error, CustomStringConvertible {
        case failed(String, status: Int32, errors: String)

        var description: String {
            switch self {
            case .failed(let program, let status, let errors): "\(program) failed with status \(status): \(errors)"
            }
        }
    }

    let width: Int
    let height: Int
    private let bytes: [UInt8]

    /// Renders the document with a pixel of the image for each of its pixels.
    ///
    /// - Throws: `Failure` if the renderer rejects the document.
    init(_ svg: String) throws { try self.init(png: Self.png(svg)) }

    /// Renders the document with a pixel of the image for each square of two pixels.
    init(halving svg: String) throws {
        try self.init(png: Self.run("rsvg-convert", ["--format", "png", "--zoom", "0.5"], input: Data(svg.utf8)))
    }

    /// Renders the document in Chromium in half its size. The image is larger than the document.
    init(inBrowserHalving figure: Figure) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "figure-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (document, image) = (folder.appending(path: "figure.svg"), folder.appending(path: "figure.png"))
        try Data(figure.svg.utf8).write(to: document)
        let size = "\(Int(figure.width) + 40),\(Int(figure.height) + 200)"
        // Chromium's headless shell starts sooner. Not all distributions have it.
        _ = try Self.run(
            "sh",
            [
                "-c", #"exec "$(command -v chromium-headless-shell || echo chromium)" "$@""#, "sh", "--headless",
                "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                "--force-color-profile=srgb", "--force-device-scale-factor=0.5", "--no-first-run",
                "--user-data-dir=\(folder.path)/profile",
                "--screenshot=\(image.path)", "--window-size=\(size)", document.absoluteString,
            ], input: Data())
        try self.init(png: Data(contentsOf: image))
    }

    private init(png: Data) throws {
        let pixels = try Self.run("python3", ["-c", Self.decoder], input: png)
        let header = pixels.prefix(8).map { Int($0) }
        width = header[0] << 24 | header[1] << 16 | header[2] << 8 | header[3]
        height = header[4] << 24 | header[5] << 16 | header[6] << 8 | header[7]
        bytes = Array(pixels.dropFirst(8))
    }

    /// Renders the document as a PNG, whose pixels take long to decode.
    ///
    /// - Throws: `Failure` if the renderer rejects the document.
    @discardableResult static func png(_ svg: String) throws -> Data {
        try run("rsvg-convert", ["--format", "png"], input: Data(svg.utf8))
    }

    /// The mean brightness, from 0 to 255, of the squares of `size` pixels in the top left part of the image, in rows.
    func brightness(ofSquares size: Int, columns: Int, rows: Int) -> [Double] {
        (0..<rows * columns).map { square in
            var sum = 0
            for y in 0..<size {
                let start = ((square / columns * size + y) * width + square % columns * size) * 3
                for byte in bytes[start..<start + 3 * size] { sum += Int(byte) }
            }
            return Double(sum) / Double(3 * size * size)
        }
    }

    /// Returns the columns that have a pixel of a colour, which is given as hexadecimal digits.
    func columns(of hex: String) -> Set<Int> {
        let color = stride(from: 0, to: 6, by: 2).compactMap { UInt8(hex.dropFirst($0).prefix(2), radix: 16) }
        var columns: Set<Int> = []
        bytes.withUnsafeBufferPointer { bytes in
            var start = 0
            while start < bytes.count {
                if bytes[start] == color[0], bytes[start + 1] == color[1], bytes[start + 2] == color[2] {
                    columns.insert(start / 3 % width)
                }
                start += 3
            }
        }
        return columns
    }

    /// Returns the colour of the pixel that contains a point, as hexadecimal digits of red, green and blue.
    func hex(x: Double, y: Double) -> String {
        let start = (Int(y) * width + Int(x)) * 3
        guard x >= 0, y >= 0, Int(x) < width, bytes.indices.contains(start + 2) else { return "outside" }
        return bytes[start..<start + 3].map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Converts a PNG with eight bits for each colour to its size, and its red, green and blue bytes.
    private static let decoder = """
        import struct, sys, zlib
        data = sys.stdin.buffer.read()
        assert data[:8] == b"\\x89PNG\\r\\n\\x1a\\n"
        place, packed, header = 8, b"", b""
        while place < len(data):
            length, kind = struct.unpack(">I4s", data[place:place + 8])
            body = data[place + 8:place + 8 + length]
            header = body if kind == b"IHDR" else header
            packed += body if kind == b"IDAT" else b""
            place += length + 12
        width, height, depth, color, _, _, interlace = struct.unpack(">IIBBBBB", header)
        assert depth == 8 and color in (2, 6) and interlace == 0, (depth, color, interlace)
        size = 4 if color == 6 else 3
        raw, row, out = zlib.decompress(packed), bytearray(width * size), bytearray()
        for y in range(height):
            start = y * (width * size + 1)
            kind, line = raw[start], bytearray(raw[start + 1:start + 1 + width * size])
            if kind == 2: line = bytearray([(a + b) & 255 for a, b in zip(line, row)])
            for i in range(width * size if kind in (1, 3, 4) else 0):
                left, up = (line[i - size] if i >= size else 0), row[i]
                corner = row[i - size] if i >= size else 0
                if kind == 1: line[i] = line[i] + left & 255
                elif kind == 3: line[i] = line[i] + (left + up) // 2 & 255
                elif kind == 4:
                    guess = left + up - corner
                    a, b, c = abs(guess - left), abs(guess - up), abs(guess - corner)
                    line[i] = line[i] + (left if a <= b and a <= c else up if b <= c else corner) & 255
            row = line
            pixels = bytearray(width * 3)
            for color in range(3): pixels[color::3] = line[color::size]
            out += pixels
        sys.stdout.buffer.write(struct.pack(">II", width, height) + bytes(out))
        """

    private static func run(_ program: String, _ arguments: [String], input: Data) throws -> Data {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [program] + arguments
        // Files instead of pipes, which would block when they are full.
        let folder = FileManager.default.temporaryDirectory.appending(path: "figure-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = ["input", "output", "errors"].map { folder.appending(path: $0) }
        try input.write(to: files[0])
        for file in files.dropFirst() { try Data().write(to: file) }
        process.standardInput = try FileHandle(forReadingFrom: files[0])
        process.standardOutput = try FileHandle(forWritingTo: files[1])
        process.standardError = try FileHandle(forWritingTo: files[2])
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            let errors = try String(decoding: Data(contentsOf: files[2]), as: UTF8.self)
            throw Failure.failed(program, status: process.terminationStatus, errors: errors)
        }
        return try Data(contentsOf: files[1])
    }
}

extension Figure {
    /// The place of a text in the document.
    struct Label: Hashable {
        var text: String
        var x: Double
        var y: Double
        var isCentered: Bool
    }

    /// The texts of the document with their places, as they are written.
    var labels: [Label] {
        svg.split(separator: "\n").compactMap { line in
            guard line.hasPrefix("<text "), let start = line.firstIndex(of: ">") else { return nil }
            func attribute(_ name: String) -> String? {
                line.range(of: " \(name)=\"").map { String(line[$0.upperBound...].prefix { $0 != "\"" }) }
            }
            guard let x = attribute("x").flatMap(Double.init), let y = attribute("y").flatMap(Double.init) else {
                return nil
            }
            let text = line[line.index(after: start)...].prefix { $0 != "<" }
            return Label(text: String(text), x: x, y: y, isCentered: attribute("text-anchor") == "middle")
        }
    }

    /// Returns the pixel of a chart's point, located by the labels of the axes' ticks.
    func pixel(xTick: String, yTick: String) throws -> (x: Double, y: Double) {
        let x = try XCTUnwrap(labels.first { $0.text == xTick && $0.isCentered }, "no tick \(xTick)")
        let y = try XCTUnwrap(labels.first { $0.text == yTick && !$0.isCentered }, "no tick \(yTick)")
        return (x.x, y.y - 4)
    }
}
