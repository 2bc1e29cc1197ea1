import IndoorVocabulary

extension SignalModel {
    /// Returns the factored covariance in dB² of a beacon's readings about path loss: shadowing, a constant and noise.
    ///
    /// - Parameters:
    ///   - readings: the position of each reading, its uncertainty, and the number of sightings in the mean.
    ///   - constant: variance in dB² of the offset that all readings share.
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
