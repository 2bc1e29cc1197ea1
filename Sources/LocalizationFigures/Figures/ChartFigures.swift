import IndoorVocabulary

/// The error of one position.
package struct ErrorSample: Hashable, Sendable {
    /// The time of the ground truth.
    package var instant: Instant
    /// The distance in metres between the position and the ground truth; nil without a position, or if the position is
    /// on another floor.
    package var error: Double?
    /// The position's 68 % error radius in metres; nil without a position.
    package var radius: Double?

    /// Creates a sample.
    package init(instant: Instant, error: Double?, radius: Double?) {
        self.instant = instant
        self.error = error
        self.radius = radius
    }
}

/// The errors of a method, ordered by time.
package struct ErrorSeries: Sendable {
    /// The name of the method.
    package var name: String
    /// The errors of each track.
    package var tracks: [Track]

    /// The errors on one track.
    package struct Track: Sendable {
        /// The name of the track.
        package var name: String
        /// The errors, ordered by instant.
        package var samples: [ErrorSample]

        /// Creates the errors of a track.
        package init(name: String, samples: [ErrorSample]) {
            self.name = name
            self.samples = samples
        }
    }

    /// Creates the errors of a method.
    package init(name: String, tracks: [Track]) {
        self.name = name
        self.tracks = tracks
    }

    /// The errors on the right floor, sorted.
    package var sorted: [Double] { tracks.flatMap(\.samples).compactMap(\.error).filter(\.isFinite).sorted() }
}

extension Figure {
    /// The colours of methods. Neighbours, and the colour of the radius, differ for every kind of colour vision.
    private static let methodColors: [FigureColor] = [.blue, .vermilion, .green, .purple, .gray]

    private static func methodColor(_ number: Int) -> FigureColor { methodColors[number % methodColors.count] }

    /// Creates a figure of the cumulative distribution of the error: for each distance, the share of positions with at
    /// most this error.
    ///
    /// Positions on another floor are left out. The axis ends at the largest of the methods' 98th percentiles.
    package static func errorDistribution(
        title: String, of series: [ErrorSeries], caption: [String] = [], layout: FigureLayout = .wide
    ) -> Figure {
        let sorted = series.map(\.sorted)
        let ends = sorted.compactMap { $0.isEmpty ? nil : $0[Int((0.98 * Double($0.count - 1)).rounded(.up))] }
        let range = 0...max(0.1, (ends.max() ?? 0) * 1.02)
        var lines: [ChartSeries] = []
        for (number, errors) in sorted.enumerated() where !errors.isEmpty {
            // Some programs draw points far outside the axes in a wrong place.
            let inside = errors.prefix { $0 <= range.upperBound }
            let points = inside.enumerated().map {
                ChartPoint(x: $1, y: Double($0 + 1) / Double(errors.count) * 100)
            }
            let last = ChartPoint(x: range.upperBound, y: Double(inside.count) / Double(errors.count) * 100)
            lines.append(
                ChartSeries(
                    series[number].name, .steps([ChartPoint(x: 0, y: 0)] + points + [last]), color: methodColor(number))
            )
        }
        let references =
            lines.isEmpty
            ? []
            : [50.0, 90].map { share in
                ChartSeries(
                    share == 50 ? "50 % and 90 %" : "",
                    .line([ChartPoint(x: 0, y: share), ChartPoint(x: range.upperBound, y: share)]), color: .gray,
                    isDashed: true)
            }
        let chart = Chart(
            x: ChartAxis("Error", unit: "m", range: range),
            y: ChartAxis("Share of positions", unit: "%", range: 0...100),
            series: references + lines, emptyText: "no position on the right floor", aspect: 0.55)
        return Figure(
            title: title,
            description: "Cumulative distribution of the error of \(series.map(\.name).joined(separator: ", ")). "
                + caption.joined(separator: " "), caption: caption, panels: [.chart(chart)],
            width: layout.width(columns: 1))
    }

    /// Creates a figure of the error over time, one chart for each track, with the 68 % radius of the first method.
    ///
    /// - Parameter limit: the maximum number of charts; the caption gives the number of tracks that are left out.
    package static func errorOverTime(
        title: String, of series: [ErrorSeries], limit: Int = 12, caption: [String] = [],
        layout: FigureLayout = .wide
    ) -> Figure {
        let tracks = series.first?.tracks.count ?? 0
        let panels = (0..<min(tracks, max(1, limit))).map { FigurePanel.chart(chart(ofTrack: $0, series)) }
        var caption = caption
        if panels.count < tracks { caption.append("The first \(panels.count) of \(tracks) tracks.") }
        return Figure(
            title: title,
            description: "Error over time of \(series.map(\.name).joined(separator: ", ")). "
                + caption.joined(separator: " "), caption: caption, panels: panels,
            columns: layout.columns(panels.count > 1 ? 2 : 1), width: layout.width(columns: panels.count))
    }

    private static func chart(ofTrack track: Int, _ series: [ErrorSeries]) -> Chart {
        var lines: [ChartSeries] = []
        for (number, method) in series.enumerated() where track < method.tracks.count {
            let samples = method.tracks[track].samples
            if number == 0 {
                let band = samples.map {
                    ChartSeries.Interval(x: $0.instant.seconds, lower: 0, upper: $0.radius ?? .nan)
                }
                lines.append(ChartSeries("68 % radius of \(method.name)", .band(band), color: .orange))
            }
            let points = samples.map { ChartPoint(x: $0.instant.seconds, y: $0.error ?? .nan) }
            lines.append(ChartSeries("error of \(method.name)", .line(points), color: methodColor(number)))
            // A single value between two gaps has no line, so it is drawn as a point.
            lines.append(ChartSeries("", .points(points), color: methodColor(number)))
        }
        let name = series.first.flatMap { track < $0.tracks.count ? $0.tracks[track].name : nil } ?? ""
        return Chart(
            title: name, x: ChartAxis("Time", unit: "s"), y: ChartAxis("Error", unit: "m", includesZero: true),
            series: lines, emptyText: "no position on the right floor", aspect: 0.5)
    }
}

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
    package static func range(
        title: String, of beacons: [BeaconRange], caption: [String] = [], layout: FigureLayout = .wide
    ) -> Figure {
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
        let columns = layout.columns(beacons.count > 2 ? 3 : max(1, beacons.count))
        return Figure(
            title: title,
            description: "RSSI over the distance from the beacon, with the fitted path-loss law. "
                + caption.joined(separator: " "), caption: caption, panels: panels, columns: columns,
            width: layout.width(columns: columns))
    }
}

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
        title: String, of beacons: [BeaconResiduals], limit: Int = 40, caption: [String] = [],
        layout: FigureLayout = .wide
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
        let width = layout.width(columns: 1)
        let panels: [FigurePanel] = [
            .chart(histogram(of: beacons.flatMap(\.values))), .chart(spread(of: shown, width: width - 32)),
        ]
        return Figure(
            title: title,
            description: "Distribution of measured minus expected RSSI, of all readings and of each beacon. "
                + caption.joined(separator: " "), caption: caption, panels: panels, width: width)
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

    /// - Parameter width: the width of the chart in pixels.
    private static func spread(of beacons: [BeaconResiduals], width: Double) -> Chart {
        // The first beacon is at the top.
        let spans = beacons.enumerated().map { number, beacon in
            let values = beacon.values
            func quantile(_ share: Double) -> Double { values[Int((share * Double(values.count - 1)).rounded())] }
            return ChartSeries.Span(
                y: Double(beacons.count - 1 - number), range: quantile(0.16)...quantile(0.84), mark: quantile(0.5))
        }
        var axis = ChartAxis("Beacon (number of readings)")
        axis.categories = beacons.reversed().map { "\($0.name) (\($0.values.count))" }
        let zero = [ChartPoint(x: 0, y: -0.5), ChartPoint(x: 0, y: Double(beacons.count) - 0.5)]
        let series = [
            ChartSeries("no difference", .line(zero), color: .gray, isDashed: true),
            ChartSeries("median and middle 68 % of a beacon", .spans(spans), color: .vermilion),
        ]
        return Chart(
            title: "Each beacon", x: ChartAxis("Measured − expected RSSI", unit: "dB"), y: axis,
            series: beacons.isEmpty ? [] : series, emptyText: "no reading",
            aspect: (70 + 17 * Double(max(4, beacons.count))) / width)
    }
}
