import IndoorVocabulary

extension PositioningEngine.Estimate {
    /// Creates an estimate of a belief other than the engine.
    package init(at point: MapPoint, radius: Double, course: Double? = nil) {
        self.init(point: point, radius: radius, covariance: nil, course: course)
    }
}
