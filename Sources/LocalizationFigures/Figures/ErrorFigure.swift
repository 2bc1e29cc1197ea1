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
    var sorted: [Double] { tracks.flatMap(\.samples).compactMap(\.error).filter(\.isFinite).sorted() }
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
        title: String, of series: [ErrorSeries], caption: [String] = []
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
                    "", .line([ChartPoint(x: 0, y: share), ChartPoint(x: range.upperBound, y: share)]), color: .gray,
                    isDashed: true)
            }
        let chart = Chart(
            x: ChartAxis("Error", unit: "m", range: range),
            y: ChartAxis("Share of positions", unit: "%", range: 0...100),
            series: references + lines, emptyText: "no position on the right floor", aspect: 0.55)
        return Figure(
            title: title,
            description: "Cumulative distribution of the error of \(series.map(\.name).joined(separator: ", ")). "
                + caption.joined(separator: " "), caption: caption, panels: [.chart(chart)])
    }

    /// Creates a figure of the error over time, one chart for each track, with the 68 % radius of the first method.
    ///
    /// - Parameter limit: the maximum number of charts; the caption gives the number of tracks that are left out.
    package static func errorOverTime(
        title: String, of series: [ErrorSeries], limit: Int = 12, caption: [String] = []
    ) -> Figure {
        let tracks = series.first?.tracks.count ?? 0
        let panels = (0..<min(tracks, max(1, limit))).map { FigurePanel.chart(chart(ofTrack: $0, series)) }
        var caption = caption
        if panels.count < tracks { caption.append("The first \(panels.count) of \(tracks) tracks.") }
        return Figure(
            title: title,
            description: "Error over time of \(series.map(\.name).joined(separator: ", ")). "
                + caption.joined(separator: " "), caption: caption, panels: panels, columns: panels.count > 1 ? 2 : 1,
            width: panels.count > 1 ? 1100 : 800)
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
