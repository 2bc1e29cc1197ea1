import IndoorLocalization
import TagTracking

/// The benchmark that decodes a gateway's messages about an iBeacon or a sensor. Each message has a different RSSI.
struct GatewayBench {
    /// The formats of gateways.
    enum Gateway: String, CaseIterable {
        case espresense, openMQTTGateway, ruuvi
    }

    let topic: String
    let payloads: [[UInt8]]

    /// Creates messages.
    init(_ gateway: Gateway, messages: Int) {
        let uuid = "7c2f0a10-0000-4000-8000-000000000003"
        let digits = "7c2f0a1000004000800000000000000300010002c5"
        topic =
            switch gateway {
            case .espresense: "espresense/devices/iBeacon:\(uuid)-1-2/kitchen"
            case .openMQTTGateway: "home/OpenMQTTGateway/BTtoMQTT/6087574C9BC2"
            case .ruuvi: "ruuvi/C8:25:2D:8E:9C:2C/C6:A5:11:22:33:44"
            }
        payloads = (0..<messages).map { number in
            let rssi = -40 - number % 60
            let text =
                switch gateway {
                case .espresense:
                    #"{"mac":"aabbccddeeff","id":"iBeacon:\#(uuid)-1-2","name":"Cart","rssi@1m":-59,"rssi":\#(rssi).25,"#
                        + #""rxAdj":0,"rssiVar":2.21,"distance":3.52,"var":0.41,"close":true,"int":312,"batt":90}"#
                case .openMQTTGateway:
                    #"{"id":"60:87:57:4C:9B:C2","mac_type":1,"adv_type":0,"name":"Cart","#
                        + #""manufacturerdata":"4c000215\#(digits)","rssi":\#(rssi),"txpower":-59,"distance":7.85288,"#
                        + #""brand":"GENERIC","model":"iBeacon","model_id":"IBEACON","mfid":"4c00","#
                        + #""uuid":"\#(digits.prefix(32))","major":1,"minor":2}"#
                case .ruuvi:
                    #"{"gw_mac":"C8:25:2D:8E:9C:2C","rssi":\#(rssi),"aoa":[],"gwts":1653668027,"ts":1653668026,"#
                        + #""data":"0201061BFF9904050FA04E20C3500000000003E8B0B6050001C6A511223344","coords":""}"#
                }
            return Array(text.utf8)
        }
    }

    /// Decodes all messages, and returns the sum of their RSSI in dBm; nil if a message doesn't have one reading.
    func decode() -> Double? {
        let decoder = GatewayDecoder()
        var sum = 0.0
        for payload in payloads {
            guard let readings = try? decoder.readings(topic: topic, payload: payload), readings.count == 1 else {
                return nil
            }
            sum += readings[0].rssi
        }
        return sum
    }
}
