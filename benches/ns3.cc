// Transfers of the campaign of 2013 in ns-3, for `benches/campaign.py`: a response of 100 segments over 7.2 Mbit/s and 25 ms each
// way, of which the last LOST segments are lost once. Prints the mean processor time of a transfer in microseconds.
//
// `ns3 TRANSFERS LOST`
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <set>

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

using namespace ns3;

constexpr uint32_t kSegments = 100;
constexpr uint32_t kMss = 1448;
constexpr uint16_t kPort = 80;

// Drops the first sending of each of the last segments.
class TailLoss : public ErrorModel
{
  public:
    explicit TailLoss(uint32_t lost)
        : m_lost(lost)
    {
    }

  private:
    bool DoCorrupt(Ptr<Packet> packet) override
    {
        Ptr<Packet> copy = packet->Copy();
        PppHeader frame;
        Ipv4Header ip;
        TcpHeader tcp;
        copy->RemoveHeader(frame);
        copy->RemoveHeader(ip);
        copy->RemoveHeader(tcp);
        if (copy->GetSize() == 0)
        {
            return false;
        }
        const uint32_t segment = (tcp.GetSequenceNumber().GetValue() - 1) / kMss;
        return segment + m_lost >= kSegments && m_seen.insert(segment).second;
    }

    void DoReset() override
    {
        m_seen.clear();
    }

    uint32_t m_lost;
    std::set<uint32_t> m_seen;
};

// One transfer from its first packet to its last; whether all of it arrived.
bool
Transfer(uint32_t lost)
{
    NodeContainer nodes;
    nodes.Create(2);
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue("7200kbps"));
    link.SetChannelAttribute("Delay", StringValue("25ms"));
    NetDeviceContainer devices = link.Install(nodes);
    DynamicCast<PointToPointNetDevice>(devices.Get(1))->SetReceiveErrorModel(Create<TailLoss>(lost));
    InternetStackHelper().Install(nodes);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    const Ipv4InterfaceContainer hosts = addresses.Assign(devices);

    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), kPort));
    ApplicationContainer receivers = sink.Install(nodes.Get(1));
    BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(hosts.GetAddress(1), kPort));
    source.SetAttribute("MaxBytes", UintegerValue(kSegments * kMss));
    source.Install(nodes.Get(0));
    Simulator::Stop(Seconds(300));
    Simulator::Run();
    const uint64_t arrived = DynamicCast<PacketSink>(receivers.Get(0))->GetTotalRx();
    Simulator::Destroy();
    return arrived == kSegments * kMss;
}

int
main(int argc, char* argv[])
{
    if (argc != 3)
    {
        std::cerr << "ns3 TRANSFERS LOST\n";
        return 2;
    }
    const int transfers = std::atoi(argv[1]);
    const auto lost = static_cast<uint32_t>(std::atoi(argv[2]));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(kMss));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(4 << 20));
    const std::clock_t began = std::clock();
    for (int n = 0; n < transfers; ++n)
    {
        if (!Transfer(lost))
        {
            std::cerr << "a transfer did not end\n";
            return 1;
        }
    }
    const double took = static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
    std::cout << 1e6 * took / transfers << "\n";
    return 0;
}
