/// The differences between the measured and the expected RSSI of a beacon.
package struct BeaconResiduals: Sendable {
    /// The name of the beacon.
    package var name: String
    /// Measured minus expected RSSI in dB, for each reading.
    package var values: [Double]

    /// Creates the residuals of a beacon.
    package init(name: String, values: [Double]) {
        self.name = name
        self.values = values
    }
}

extension Figure {
    /// Creates a figure of the residuals of the RSSI: their distribution, and the median and the middle 68 % for each
    /// beacon.
    ///
    /// - Parameters:
    ///   - beacons: the residuals; beacons without a value are left out.
    ///   - limit: the maximum number of beacons shown separately, those with the most readings.
    package static func residuals(
        title: String, of beacons: [BeaconResiduals], limit: Int = 40, caption: [String] = []
    ) -> Figure {
        let beacons = beacons.map { BeaconResiduals(name: $0.name, values: $0.values.filter(\.isFinite).sorted()) }
            .filter { !$0.values.isEmpty }
        var caption = caption
        // The order is deterministic: by the number of readings, then by the given order.
        let most = beacons.enumerated().sorted {
            ($1.element.values.count, $0.offset) < ($0.element.values.count, $1.offset)
        }
        .prefix(max(1, limit)).map(\.offset)
        let shown = most.sorted().map { beacons[$0] }
        if shown.count < beacons.count {
            caption.append("The \(shown.count) of \(beacons.count) beacons with the most readings.")
        }
        let panels: [FigurePanel] = [.chart(histogram(of: beacons.flatMap(\.values))), .chart(spread(of: shown))]
        return Figure(
            title: title,
            description: "Distribution of measured minus expected RSSI, of all readings and of each beacon. "
                + caption.joined(separator: " "), caption: caption, panels: panels)
    }

    private static func histogram(of values: [Double]) -> Chart {
        // The bars are 1 dB wide, over the range that contains 99 % of the values; the outer bars include the rest.
        let sorted = values.sorted()
        let low = sorted.isEmpty ? 0 : max(-60, sorted[Int(0.005 * Double(sorted.count - 1))].rounded(.down))
        let high = sorted.isEmpty ? 1 : min(60, sorted[Int(0.995 * Double(sorted.count - 1))].rounded(.up))
        var counts = [Int](repeating: 0, count: max(1, Int(high - low)))
        for value in sorted { counts[min(max(0, Int((value - low).rounded(.down))), counts.count - 1)] += 1 }
        let total = Double(max(1, sorted.count))
        let bars = counts.enumerated().map { number, count in
            let start = low + Double(number)
            return ChartSeries.Bar(start...start + 1, value: Double(count) / total * 100)
        }
        return Chart(
            title: "All beacons", x: ChartAxis("Measured − expected RSSI", unit: "dB"),
            y: ChartAxis("Share of readings", unit: "%", includesZero: true),
            series: sorted.isEmpty ? [] : [ChartSeries("", .bars(bars), color: .blue)], emptyText: "no reading",
            aspect: 0.36)
    }

    private static func spread(of beacons: [BeaconResiduals]) -> Chart {
        // The first beacon is at the top.
        let spans = beacons.enumerated().map { number, beacon in
            let values = beacon.values
            func quantile(_ share: Double) -> Double { values[Int((share * Double(values.count - 1)).rounded())] }
            return ChartSeries.Span(
                y: Double(beacons.count - 1 - number), range: quantile(0.16)...quantile(0.84), mark: quantile(0.5))
        }
        var axis = ChartAxis("Beacon")
        axis.categories = beacons.reversed().map { "\($0.name) (\($0.values.count))" }
        let zero = [ChartPoint(x: 0, y: -0.5), ChartPoint(x: 0, y: Double(beacons.count) - 0.5)]
        let series = [
            ChartSeries("no difference", .line(zero), color: .gray, isDashed: true),
            ChartSeries("median and middle 68 % of a beacon (number of readings)", .spans(spans), color: .vermilion),
        ]
        return Chart(
            title: "Each beacon", x: ChartAxis("Measured − expected RSSI", unit: "dB"), y: axis,
            series: beacons.isEmpty ? [] : series, emptyText: "no reading",
            aspect: (70 + 17 * Double(max(4, beacons.count))) / 768)
    }
}
