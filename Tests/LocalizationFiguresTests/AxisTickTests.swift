import LocalizationFigures
import XCTest

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
