import Foundation
import IndoorLocalizationTesting
import LocalizationFigures
import XCTest

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
