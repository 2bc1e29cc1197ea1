import IndoorVocabulary

extension SignalModel {
    /// The covariance in dB² of readings of a beacon about path loss, factored: shadowing, the same everywhere, and noise.
    ///
    /// - Parameters:
    ///   - readings: where each was heard, how surely so, and of how many sightings it is the mean.
    ///   - constant: variance in dB² of what all of them differ by.
    func covariance(of readings: [(point: MapPoint, deviation: Double, count: Int)], constant: Double) -> Cholesky? {
        let count = readings.count
        var kernel = [Double](repeating: 0, count: count * count)
        let amplitude = shadowing * shadowing
        for row in 0..<count {
            for column in 0...row {
                let distance = readings[row].point.distance(to: readings[column].point)
                kernel[row * count + column] = constant + amplitude * shadowingCorrelation(distance: distance)
            }
            kernel[row * count + row] += surveyVariance(
                count: readings[row].count, deviation: readings[row].deviation)
        }
        return Cholesky(kernel, order: count)
    }
}
