/// The RSSI of a beacon at distances from it, with the path-loss law that was fitted to them.
package struct BeaconRange: Sendable {
    /// The name of the beacon.
    package var name: String
    /// The RSSI in dBm (y) of each reading at its distance in metres (x).
    package var readings: [ChartPoint]
    /// The RSSI in dBm by the law (y) over the distance in metres (x).
    package var law: [ChartPoint]
    /// The standard deviation of the readings from the law in dB.
    package var deviation: Double

    /// Creates the readings and the law of a beacon.
    package init(name: String, readings: [ChartPoint], law: [ChartPoint], deviation: Double) {
        self.name = name
        self.readings = readings
        self.law = law
        self.deviation = deviation
    }
}

extension Figure {
    /// Creates a figure of the RSSI over the distance, one chart for each beacon, with the fitted path-loss law and its
    /// standard deviation. All charts have the same axes.
    package static func range(title: String, of beacons: [BeaconRange], caption: [String] = []) -> Figure {
        let points = beacons.flatMap(\.readings).filter { $0.x.isFinite && $0.y.isFinite }
        let farthest = max(1, points.map(\.x).max() ?? 1)
        let low = ((points.map(\.y).min() ?? -100) / 10).rounded(.down) * 10
        let high = ((points.map(\.y).max() ?? -40) / 10).rounded(.up) * 10
        let panels = beacons.map { beacon in
            let band = beacon.law.map {
                ChartSeries.Interval(x: $0.x, lower: $0.y - beacon.deviation, upper: $0.y + beacon.deviation)
            }
            return FigurePanel.chart(
                Chart(
                    title: beacon.name, x: ChartAxis("Distance", unit: "m", range: 0...farthest),
                    y: ChartAxis("RSSI", unit: "dBm", range: low...max(high, low + 10)),
                    series: beacon.readings.isEmpty
                        ? []
                        : [
                            ChartSeries("± standard deviation", .band(band), color: .orange),
                            ChartSeries("readings", .points(beacon.readings), color: .blue),
                            ChartSeries("path-loss law", .line(beacon.law), color: .vermilion),
                        ], emptyText: "no reading", aspect: beacons.count > 1 ? 0.7 : 0.5))
        }
        let columns = beacons.count > 2 ? 3 : max(1, beacons.count)
        return Figure(
            title: title,
            description: "RSSI over the distance from the beacon, with the fitted path-loss law. "
                + caption.joined(separator: " "), caption: caption, panels: panels, columns: columns,
            width: columns > 1 ? 1100 : 800)
    }
}
